-- One pod.
--
-- Division: whole
--
-- Counted:
-- - `main`: 1, with what its containers, sidecars and init containers need.
-- Not counted:
-- - Overhead of a RuntimeClass and defaults of a LimitRange, unless they stand in the object already.
-- Sources:
-- - kubernetes: staging/src/k8s.io/component-helpers/resource/helpers.go, pkg/apis/core/v1/defaults.go
-- include: snippets/replicated.lua
-- include: snippets/statuses.lua

local PHASES = { "Failed", "Pending", "Running", "Succeeded" }

function GetComponents(object)
  return one_component(1, object)
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

-- Mounts of the containers of the same name.
function keep_mounts(desired, observed)
  for _, container in ipairs(table_or_empty(desired)) do
    for _, kept in ipairs(table_or_empty(observed)) do
      if kept.name == container.name then
        container.volumeMounts = kept.volumeMounts
      end
    end
  end
end

-- What the member cluster fills in once and nobody may change: the node, the account and the token's volume.
function Retain(desired, observed)
  local kept = get(observed, "spec")
  if type(kept) ~= "table" then
    return desired
  end
  desired.spec = table_or_empty(desired.spec)
  desired.spec.nodeName = kept.nodeName
  desired.spec.serviceAccountName = kept.serviceAccountName
  desired.spec.volumes = kept.volumes
  keep_mounts(desired.spec.containers, kept.containers)
  keep_mounts(desired.spec.initContainers, kept.initContainers)
  return desired
end

function InterpretHealth(object)
  local phase = get(object, "status", "phase")
  return phase == "Succeeded" or (phase == "Running" and holds(object, "Ready"))
end

function ReflectStatus(object)
  return copy(table_or_empty(get(object, "status")))
end

function container_states(reports, field)
  local states = {}
  for _, report in ipairs(reports) do
    for _, state in ipairs(table_or_empty(report.status[field])) do
      states[#states + 1] = { name = state.name, ready = state.ready, state = state.state }
    end
  end
  if states[1] ~= nil then
    return states
  end
  return nil
end

-- The first phase of the list that any cluster is in; a cluster that has not reported is pending.
function AggregateStatus(object, items)
  local reports = reports_of(items)
  local seen = { Pending = #reports < #table_or_empty(items) }
  for _, report in ipairs(reports) do
    seen[tostring(report.status.phase)] = true
  end
  if #table_or_empty(items) == 0 then
    return object
  end
  object.status = {
    containerStatuses = container_states(reports, "containerStatuses"),
    initContainerStatuses = container_states(reports, "initContainerStatuses"),
  }
  for i = #PHASES, 1, -1 do
    if seen[PHASES[i]] then
      object.status.phase = PHASES[i]
    end
  end
  return object
end

function GetDependencies(object)
  return dependencies_of_templates(object, { object })
end
