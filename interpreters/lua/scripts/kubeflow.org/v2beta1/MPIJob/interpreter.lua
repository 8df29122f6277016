-- An MPI job: the launcher and its workers (mpi-operator).
--
-- Division: whole
-- Corrects: InterpretComponent: leaves out native sidecars and pod-level resources
--
-- Counted:
-- - `Launcher`: 1, always. `Worker`: replicas, 0 by default.
-- - A suspended job counts its size once it is resumed.
-- Not counted:
-- - slotsPerWorker, runLauncherAsWorker and launcherCreationPolicy: they change no pods.
-- - Workers whose number is left out: the operator then refuses the job.
-- Sources:
-- - mpi-operator: pkg/apis/kubeflow/v2beta1/default.go, validation/validation.go,
--   pkg/controller/mpi_job_controller.go
-- include: snippets/training.lua

local FIELD = "mpiReplicaSpecs"
local ROLES = { "Launcher", "Worker" }

function GetComponents(object)
  local components = {}
  for _, entry in ipairs(roles_of(object, FIELD, ROLES)) do
    if entry.role == "Launcher" then
      add_component(components, entry.role, 1, pod_requirements(entry.spec.template))
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
