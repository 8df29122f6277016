-- The pods of an OpenKruise CloneSet.
-- Also serves: apps.kruise.io/v1beta1
--
-- Division: divides
-- On request: Retain
--
-- Counted:
-- - `main`: spec.replicas, 1 by default.
-- Not counted:
-- - Pods that an update adds for a while (maxSurge).
-- Sources:
-- - kruise: apis/apps/defaults/v1alpha1.go, apis/apps/v1alpha1/cloneset_types.go
-- include: snippets/replicated.lua

local COUNTERS = {
  "availableReplicas", "expectedUpdatedReplicas", "readyReplicas", "replicas", "updatedReadyReplicas",
  "updatedReplicas",
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

function GetDependencies(object)
  return dependencies_of_templates(object, { table_or_empty(get(object, "spec", "template")) })
end
