-- An MPI job: the launcher and its workers (training-operator).
--
-- Division: whole
--
-- Counted:
-- - `Launcher`: 1, always. `Worker`: replicas, 0 by default.
-- - The launcher's init container that delivers kubectl: 100m, 512Mi and 5Gi of ephemeral storage.
-- - A suspended job counts its size once it is resumed.
-- Not counted:
-- - slotsPerWorker: it changes no pods.
-- Sources:
-- - training-operator: pkg/controller.v1/mpi/mpijob_controller.go, pkg/apis/kubeflow.org/v1/mpi_defaults.go
-- include: snippets/training.lua

local FIELD = "mpiReplicaSpecs"
local ROLES = { "Launcher", "Worker" }
local KUBECTL_DELIVERY = { cpu = "100m", memory = "512Mi", ["ephemeral-storage"] = "5Gi" }

function GetComponents(object)
  local components = {}
  for _, entry in ipairs(roles_of(object, FIELD, ROLES)) do
    if entry.role == "Launcher" then
      local template = with_init_container(entry.spec.template, copy(KUBECTL_DELIVERY))
      add_component(components, entry.role, 1, pod_requirements(template))
    else
      local replicas = count(entry.spec.replicas, 0, FIELD .. "." .. entry.role .. ".replicas")
      add_component(components, entry.role, replicas, pod_requirements(entry.spec.template))
    end
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
