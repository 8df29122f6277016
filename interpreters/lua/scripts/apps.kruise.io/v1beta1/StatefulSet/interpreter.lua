-- The pods of an OpenKruise Advanced StatefulSet.
-- Also serves: apps.kruise.io/v1alpha1
--
-- Division: divides
-- On request: Retain
--
-- Counted:
-- - `main`: spec.replicas, 1 by default. reserveOrdinals skips numbers, not pods.
-- Not counted:
-- - Storage of volumeClaimTemplates.
-- Sources:
-- - kruise: apis/apps/defaults/v1beta1.go, apis/apps/v1beta1/statefulset_types.go
-- include: snippets/replicated.lua

local COUNTERS = {
  "availableReplicas", "currentReplicas", "readyReplicas", "replicas", "updatedReadyReplicas", "updatedReplicas",
}
local TEXTS = { "currentRevision", "labelSelector", "updateRevision" }

function GetComponents(object)
  return one_component(count(get(object, "spec", "replicas"), 1, "spec.replicas"), get(object, "spec", "template"))
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return write_share(object, replicas, "replicas")
end

function Retain(desired, observed)
  return retain_replicas(desired, observed)
end

function InterpretHealth(object)
  return replicas_are_healthy(object, "updatedReplicas")
end

function ReflectStatus(object)
  local status = reflect_replicas(object, COUNTERS)
  for _, field in ipairs(TEXTS) do
    status[field] = get(object, "status", field)
  end
  return status
end

function AggregateStatus(object, items)
  return aggregate_replicas(object, items, COUNTERS, TEXTS)
end

-- Claims of the set's own claim templates are made in the member cluster.
function GetDependencies(object)
  local own = {}
  for _, claim in ipairs(table_or_empty(get(object, "spec", "volumeClaimTemplates"))) do
    own[tostring(get(claim, "metadata", "name"))] = true
  end
  local found = {}
  for _, dependency in ipairs(dependencies_of_templates(object, { table_or_empty(get(object, "spec", "template")) })) do
    if dependency.kind ~= "PersistentVolumeClaim" or not own[dependency.name] then
      found[#found + 1] = dependency
    end
  end
  return found
end
