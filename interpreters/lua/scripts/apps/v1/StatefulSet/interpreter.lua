-- The pods of a StatefulSet.
--
-- Division: divides
--
-- Counted:
-- - `main`: spec.replicas, 1 by default.
-- Not counted:
-- - Storage of volumeClaimTemplates.
-- Sources:
-- - kubernetes: pkg/apis/apps/v1/defaults.go, staging/src/k8s.io/component-helpers/resource/helpers.go
-- include: snippets/replicated.lua

local COUNTERS = { "availableReplicas", "currentReplicas", "readyReplicas", "replicas", "updatedReplicas" }

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
  return replicas_are_healthy(object, "updatedReplicas")
end

function ReflectStatus(object)
  return reflect_replicas(object, COUNTERS)
end

function AggregateStatus(object, items)
  return aggregate_replicas(object, items, COUNTERS, {})
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
