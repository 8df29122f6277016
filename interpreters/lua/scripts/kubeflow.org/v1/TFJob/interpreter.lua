-- A TensorFlow training job: chief or master, parameter servers, workers and evaluator.
--
-- Division: whole
-- Corrects: InterpretComponent: knows roles in exact case only
--
-- Counted:
-- - One component per replica type of spec.tfReplicaSpecs, named in lower case: replicas, 1 by default. Keys are read
--   in any case, as the operator reads them.
-- - A suspended job counts its size once it is resumed.
-- Not counted:
-- - schedulingPolicy: it shapes the PodGroup, not the pods.
-- Sources:
-- - training-operator: pkg/apis/kubeflow.org/v1/tensorflow_defaults.go, pkg/controller.v1/common/job.go
-- include: snippets/training.lua

local FIELD = "tfReplicaSpecs"
local ROLES = { "Chief", "Master", "PS", "Worker", "Evaluator" }

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
