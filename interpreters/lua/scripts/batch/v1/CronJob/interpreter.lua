-- The pods of one run of a CronJob.
--
-- Division: whole
--
-- Counted:
-- - `main`: the pods of one run by the rule of Job. A suspended CronJob counts the same.
-- Not counted:
-- - Runs that overlap (concurrencyPolicy Allow), and that there are no pods between runs.
-- Sources:
-- - kubernetes: pkg/apis/batch/v1/defaults.go, pkg/controller/cronjob/cronjob_controllerv2.go
-- include: snippets/replicated.lua
-- include: snippets/jobs.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = { "active", "lastScheduleTime", "lastSuccessfulTime" }

function GetComponents(object)
  local job = get(object, "spec", "jobTemplate", "spec")
  return one_component(job_pods(job), get(job, "template"))
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

-- A schedule has no bad state of its own: its Jobs have.
function InterpretHealth(object)
  return true
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

function AggregateStatus(object, items)
  return aggregate(object, items, { active = "list", lastScheduleTime = "latest", lastSuccessfulTime = "latest" })
end

function GetDependencies(object)
  return dependencies_of_templates(object, { table_or_empty(get(object, "spec", "jobTemplate", "spec", "template")) })
end
