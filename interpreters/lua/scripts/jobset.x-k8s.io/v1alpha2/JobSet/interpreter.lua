-- The replicated jobs of a JobSet.
--
-- Division: whole
--
-- Counted:
-- - One component per replicated job, by its name: replicas (1 by default) times the pods of one Job, which are its
--   parallelism (1 by default), and never more than its completions.
-- - A suspended JobSet counts its size once it is resumed.
-- Not counted:
-- - The order of start (dependsOn, startup policy): all jobs count together.
-- - Selector and toleration that exclusive placement adds.
-- Sources:
-- - jobset: api/jobset/v1alpha2/jobset_types.go, pkg/controllers/jobset_controller.go
-- include: snippets/pods.lua
-- include: snippets/components.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua
-- include: snippets/jobs.lua

local STATUS_FIELDS = { "conditions", "replicatedJobsStatus", "restarts", "restartsCountTowardsMax", "terminalState" }

function replicated_jobs(object)
  return table_or_empty(get(object, "spec", "replicatedJobs"))
end

function GetComponents(object)
  local components = {}
  for i, job in ipairs(replicated_jobs(object)) do
    local name = text_or_nil(job.name) or "job-" .. (i - 1)
    local jobs = count(job.replicas, 1, "spec.replicatedJobs[" .. (i - 1) .. "].replicas")
    local template = get(job, "template", "spec", "template")
    add_component(components, name, jobs * job_pods(get(job, "template", "spec")), pod_requirements(template))
  end
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

-- Known to its controller and not failed; a JobSet that has only just started has no conditions yet, but counts of its
-- jobs.
function InterpretHealth(object)
  local known = get(object, "status", "conditions") or get(object, "status", "replicatedJobsStatus")
  return #table_or_empty(known) > 0 and not holds(object, "Failed")
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

-- The counters of every replicated job, added up by name.
function jobs_status(reports)
  local sums, order = {}, {}
  for _, report in ipairs(reports) do
    for _, job in ipairs(table_or_empty(report.status.replicatedJobsStatus)) do
      local name = tostring(job.name)
      if sums[name] == nil then
        order[#order + 1] = name
      end
      sums[name] = add_tree(table_or_empty(sums[name]), job)
    end
  end
  local result = {}
  for i, name in ipairs(order) do
    result[i] = sums[name]
  end
  return result
end

function AggregateStatus(object, items)
  local ways = { conditions = "conditions", restarts = "sum", restartsCountTowardsMax = "sum" }
  return aggregate(object, items, ways, function(reports, expected)
    local status = { replicatedJobsStatus = jobs_status(reports) }
    local finished = 0
    for _, report in ipairs(reports) do
      if report.status.terminalState == "Failed" then
        status.terminalState = "Failed"
      elseif report.status.terminalState ~= nil then
        finished = finished + 1
      end
    end
    if finished == expected then
      status.terminalState = "Completed"
    end
    return status
  end)
end

function GetDependencies(object)
  local templates = {}
  for i, job in ipairs(replicated_jobs(object)) do
    templates[i] = table_or_empty(get(job, "template", "spec", "template"))
  end
  return dependencies_of_templates(object, templates)
end
