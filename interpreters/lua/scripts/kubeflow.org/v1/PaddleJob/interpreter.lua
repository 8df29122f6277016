-- A PaddlePaddle training job: its master, if any, and its workers.
--
-- Division: whole
--
-- Counted:
-- - One component per replica type of spec.paddleReplicaSpecs, named in lower case: replicas, 1 by default. Keys are
--   read in any case, as the operator reads them.
-- - A suspended job counts its size once it is resumed.
-- Not counted:
-- - What an elasticPolicy adds later: the job starts with Worker.replicas.
-- - schedulingPolicy: it shapes the PodGroup, not the pods.
-- Sources:
-- - training-operator: pkg/apis/kubeflow.org/v1/paddlepaddle_defaults.go, pkg/controller.v1/common/job.go
-- include: snippets/training.lua

local FIELD = "paddleReplicaSpecs"
local ROLES = { "Master", "Worker" }

function GetComponents(object)
  return role_components(object, FIELD, ROLES)
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

function InterpretHealth(object)
  return training_is_healthy(object)
end

function ReflectStatus(object)
  return reflect_training(object)
end

function AggregateStatus(object, items)
  return aggregate_training(object, items)
end

function GetDependencies(object)
  return role_dependencies(object, FIELD, ROLES)
end
