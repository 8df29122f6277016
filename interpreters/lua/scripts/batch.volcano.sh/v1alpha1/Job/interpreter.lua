-- The tasks of a Volcano job.
--
-- Division: whole
-- Corrects: InterpretComponent: counts minAvailable instead of replicas
--
-- Counted:
-- - One component per task, by its name (`default<index>` if it has none): replicas, 0 by default.
-- - spec.priorityClassName for pods whose template names none.
-- Not counted:
-- - minAvailable: it is the number that must start together, not the number of pods.
-- - dependsOn: it delays pods, it does not remove them.
-- Sources:
-- - volcano: pkg/controllers/job/job_controller_actions.go, job_controller_util.go,
--   pkg/webhooks/admission/jobs/mutate/mutate_job.go
-- include: snippets/pods.lua
-- include: snippets/components.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = {
  "conditions", "controlledResources", "failed", "minAvailable", "pending", "retryCount", "running", "runningDuration",
  "state", "succeeded", "taskStatusCount", "terminating", "unknown", "version",
}

local PHASE_RANK = {
  Completed = 1, Completing = 2, Running = 3, Pending = 4, Restarting = 5, Aborting = 6, Aborted = 7, Terminating = 8,
  Terminated = 9, Failed = 10,
}

function tasks_of(object)
  return table_or_empty(get(object, "spec", "tasks"))
end

function GetComponents(object)
  local components = {}
  for i, task in ipairs(tasks_of(object)) do
    local name = text_or_nil(task.name) or "default" .. (i - 1)
    local priority = text_or_nil(get(object, "spec", "priorityClassName"))
    local replicas = count(task.replicas, 0, "spec.tasks[" .. (i - 1) .. "].replicas")
    add_component(components, name, replicas, pod_requirements(task.template, priority))
  end
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

-- In any known phase but Failed.
function InterpretHealth(object)
  local phase = get(object, "status", "state", "phase")
  return phase ~= nil and PHASE_RANK[phase] ~= nil and phase ~= "Failed"
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

-- Counters add up; phase, conditions and duration are those of the cluster that is worst off.
function AggregateStatus(object, items)
  local ways = {
    controlledResources = "tree", failed = "sum", minAvailable = "sum", pending = "sum", retryCount = "sum",
    running = "sum", succeeded = "sum", taskStatusCount = "tree", terminating = "sum", unknown = "sum",
    version = "latest",
  }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return PHASE_RANK[get(status, "state", "phase")]
    end)
    return reflect(worst, { "conditions", "runningDuration", "state" })
  end)
end

-- What the templates refer to, and the claims that the job mounts by name.
function GetDependencies(object)
  local templates = {}
  for i, task in ipairs(tasks_of(object)) do
    templates[i] = table_or_empty(task.template)
  end
  local found = dependencies_of_templates(object, templates)
  for _, volume in ipairs(table_or_empty(get(object, "spec", "volumes"))) do
    if get(volume, "volumeClaim") == nil then
      local namespace = get(object, "metadata", "namespace")
      add_dependency(found, "PersistentVolumeClaim", get(volume, "volumeClaimName"), namespace)
    end
  end
  return sorted_dependencies(found)
end
