-- The pods of a ReplicaSet.
--
-- Division: divides
--
-- Counted:
-- - `main`: spec.replicas, 1 by default.
-- Not counted:
-- - Nothing else: a ReplicaSet has no pods beside these.
-- Sources:
-- - kubernetes: pkg/apis/apps/v1/defaults.go, staging/src/k8s.io/component-helpers/resource/helpers.go
-- include: snippets/replicated.lua

local COUNTERS = { "availableReplicas", "readyReplicas", "replicas" }

function GetComponents(object)
  return one_component(count(get(object, "spec", "replicas"), 1, "spec.replicas"), get(object, "spec", "template"))
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  if replicas ~= GetReplicas(object) then
    object.spec = table_or_empty(object.spec)
    object.spec.replicas = replicas
  end
  return object
end

function Retain(desired, observed)
  return retain_replicas(desired, observed)
end

function InterpretHealth(object)
  return replicas_are_healthy(object, "availableReplicas")
end

function ReflectStatus(object)
  return reflect_replicas(object, COUNTERS)
end

function AggregateStatus(object, items)
  return aggregate_replicas(object, items, COUNTERS, {})
end

function GetDependencies(object)
  return dependencies_of_templates(object, { table_or_empty(get(object, "spec", "template")) })
end
