-- Groups of one leader pod and its workers.
--
-- Division: whole
-- On request: Retain
--
-- Counted:
-- - `leader`: replicas (1 by default). `worker`: replicas times size less one, where size (1 by default) includes the
--   leader.
-- - Without a leaderTemplate leaders are made like workers: one component `main` of replicas times size.
-- Not counted:
-- - Groups that a rolling update adds for a while (maxSurge).
-- Sources:
-- - lws: api/leaderworkerset/v1/leaderworkerset_types.go, pkg/controllers/leaderworkerset_controller.go,
--   pod_controller.go
-- include: snippets/replicated.lua
-- include: snippets/statuses.lua

local COUNTERS = { "readyReplicas", "replicas", "updatedReplicas" }

function groups_and_size(object)
  local replicas = count(get(object, "spec", "replicas"), 1, "spec.replicas")
  local size = get(object, "spec", "leaderWorkerTemplate", "size")
  return replicas, math.max(count(size, 1, "spec.leaderWorkerTemplate.size"), 1)
end

function GetComponents(object)
  local groups, size = groups_and_size(object)
  local templates = table_or_empty(get(object, "spec", "leaderWorkerTemplate"))
  if templates.leaderTemplate == nil then
    return one_component(groups * size, templates.workerTemplate)
  end
  local components = {}
  add_component(components, "leader", groups, pod_requirements(templates.leaderTemplate))
  add_component(components, "worker", groups * (size - 1), pod_requirements(templates.workerTemplate))
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

function Retain(desired, observed)
  return retain_replicas(desired, observed)
end

function InterpretHealth(object)
  local ready = get(object, "status", "readyReplicas") or 0
  return holds(object, "Available") and ready >= groups_and_size(object)
end

function ReflectStatus(object)
  local status = reflect_replicas(object, COUNTERS)
  status.conditions = get(object, "status", "conditions")
  status.hpaPodSelector = get(object, "status", "hpaPodSelector")
  return status
end

function AggregateStatus(object, items)
  aggregate_replicas(object, items, COUNTERS, { "hpaPodSelector" })
  local reports = reports_of(items)
  if #reports > 0 then
    object.status.conditions = fold_conditions(reports, #items)
  end
  return object
end

function GetDependencies(object)
  local templates = table_or_empty(get(object, "spec", "leaderWorkerTemplate"))
  local leader, worker = table_or_empty(templates.leaderTemplate), table_or_empty(templates.workerTemplate)
  return dependencies_of_templates(object, { leader, worker })
end
