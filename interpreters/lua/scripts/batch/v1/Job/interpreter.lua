-- The pods of a Job that run at once.
--
-- Division: divides
--
-- Counted:
-- - `main`: parallelism, 1 by default, and never more than completions. A suspended Job counts its size once it is
--   resumed.
-- Not counted:
-- - Completions that are done already: the number is that of the start.
-- Sources:
-- - kubernetes: pkg/apis/batch/v1/defaults.go, pkg/controller/job/job_controller.go
-- include: snippets/replicated.lua
-- include: snippets/jobs.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = { "active", "completionTime", "conditions", "failed", "startTime", "succeeded" }

function GetComponents(object)
  return one_component(job_pods(get(object, "spec")), get(object, "spec", "template"))
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  if replicas ~= GetReplicas(object) then
    object.spec = table_or_empty(object.spec)
    object.spec.parallelism = replicas
  end
  return object
end

-- The member cluster's labels tie the pods to its own Job object.
function Retain(desired, observed)
  local selector = get(observed, "spec", "selector", "matchLabels")
  local labels = get(observed, "spec", "template", "metadata", "labels")
  desired.spec = table_or_empty(desired.spec)
  if selector ~= nil then
    desired.spec.selector = table_or_empty(desired.spec.selector)
    desired.spec.selector.matchLabels = selector
  end
  if labels ~= nil then
    desired.spec.template = table_or_empty(desired.spec.template)
    desired.spec.template.metadata = table_or_empty(desired.spec.template.metadata)
    desired.spec.template.metadata.labels = labels
  end
  return desired
end

-- Started or done, and not failed.
function InterpretHealth(object)
  return get(object, "status", "startTime") ~= nil and not holds(object, "Failed")
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

-- A Job that is finished stays as it was; its status must not change any more.
function AggregateStatus(object, items)
  if holds(object, "Complete") or holds(object, "Failed") then
    return object
  end
  return aggregate(object, items, {
    active = "sum", completionTime = "finished", conditions = "conditions", failed = "sum", startTime = "earliest",
    succeeded = "sum",
  })
end

function GetDependencies(object)
  return dependencies_of_templates(object, { table_or_empty(get(object, "spec", "template")) })
end
