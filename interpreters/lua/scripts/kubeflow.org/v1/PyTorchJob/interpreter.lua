-- A PyTorch training job: its master and its workers.
--
-- Division: whole
-- Corrects: InterpretComponent: knows roles in exact case only, and no init container of workers
--
-- Counted:
-- - One component per replica type of spec.pytorchReplicaSpecs, named in lower case: replicas, 1 by default. Keys are
--   read in any case, as the operator reads them.
-- - The init container of every worker of a job with a master (50m, 10Mi), which matters for unsized workers.
-- - A suspended job counts its size once it is resumed.
-- Not counted:
-- - What an elasticPolicy adds later: the job starts with Worker.replicas.
-- - schedulingPolicy: it shapes the PodGroup, not the pods.
-- - An init container template that the operator's installation replaces.
-- Sources:
-- - training-operator: pkg/apis/kubeflow.org/v1/pytorch_defaults.go, pkg/controller.v1/common/job.go
-- - training-operator: pkg/controller.v1/pytorch/initcontainer.go, hpa.go
-- include: snippets/training.lua

local FIELD = "pytorchReplicaSpecs"
local ROLES = { "Master", "Worker" }

function GetComponents(object)
  local components = {}
  local entries = roles_of(object, FIELD, ROLES)
  local has_master = entries[1] ~= nil and entries[1].role == "Master"
  for _, entry in ipairs(entries) do
    local template = entry.spec.template
    if has_master and entry.role == "Worker" then
      template = with_init_container(template, { cpu = "50m", memory = "10Mi" })
    end
    local replicas = count(entry.spec.replicas, 1, FIELD .. "." .. entry.role .. ".replicas")
    add_component(components, string.lower(entry.role), replicas, pod_requirements(template))
  end
  return components
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
