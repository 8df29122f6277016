-- One pod on every node that fits: a number that only the member cluster knows.
-- Also serves: apps.kruise.io/v1beta1
--
-- Division: karmada
--
-- Counted:
-- - `main`: a lower bound. parallelism is how many pods run at once at most; without it, or with a percentage of the
--   nodes, 1 is counted, because every cluster that takes the job runs it on at least one node.
-- - What one pod needs is exact.
-- Not counted:
-- - The other nodes of the cluster.
-- Sources:
-- - kruise: apis/apps/v1alpha1/broadcastjob_types.go, pkg/controller/broadcastjob
-- include: snippets/replicated.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = {
  "active", "completionTime", "conditions", "desired", "failed", "phase", "startTime", "succeeded",
}

local PHASE_RANK = { completed = 1, running = 2, paused = 3, failed = 4 }

function GetComponents(object)
  local parallelism = get(object, "spec", "parallelism")
  if string.sub(tostring(parallelism), -1) == "%" then
    parallelism = nil
  end
  return one_component(count(parallelism, 1, "spec.parallelism"), get(object, "spec", "template"))
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return write_share(object, replicas, "parallelism")
end

-- The member cluster labels the template to find its pods.
function Retain(desired, observed)
  local labels = get(observed, "spec", "template", "metadata", "labels")
  if labels ~= nil then
    desired.spec = table_or_empty(desired.spec)
    desired.spec.template = table_or_empty(desired.spec.template)
    desired.spec.template.metadata = table_or_empty(desired.spec.template.metadata)
    desired.spec.template.metadata.labels = labels
  end
  return desired
end

-- It found nodes, no pod failed, and pods run or ran.
function InterpretHealth(object)
  local status = table_or_empty(get(object, "status"))
  if (status.desired or 0) == 0 or (status.failed or 0) ~= 0 then
    return false
  end
  return (status.succeeded or 0) > 0 or (status.active or 0) > 0
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

function AggregateStatus(object, items)
  local ways = {
    active = "sum", completionTime = "finished", conditions = "conditions", desired = "sum", failed = "sum",
    startTime = "earliest", succeeded = "sum",
  }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return PHASE_RANK[status.phase]
    end)
    return { phase = worst.status.phase }
  end)
end

function GetDependencies(object)
  return dependencies_of_templates(object, { table_or_empty(get(object, "spec", "template")) })
end
