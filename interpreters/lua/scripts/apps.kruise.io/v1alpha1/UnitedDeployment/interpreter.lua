-- The subsets of an OpenKruise UnitedDeployment.
-- Also serves: apps.kruise.io/v1beta1
--
-- Division: divides
-- Components: several
-- On request: Retain
--
-- Counted:
-- - One component per subset, by its name. Subsets with replicas (a number or a rounded percentage) come first, the
--   others share the rest evenly, odd pods going to the last names. With minReplicas or maxReplicas: the minima in
--   order, then up to the maxima in order. spec.replicas is 1 by default; without subsets one component `main`.
-- - InterpretReplica says 0 if every subset states its replicas: no share can be cut out of it, so it goes whole.
-- - The pod template of whichever workload template is used, with the subset's node selector term on every required
--   term, its tolerations, and its patch.
-- Not counted:
-- - Adaptive rescheduling of pods that find no place.
-- Sources:
-- - kruise: pkg/controller/uniteddeployment/allocator.go, uniteddeployment_controller_utils.go,
--   adapter/adapter_util.go
-- include: snippets/replicated.lua
-- include: snippets/statuses.lua
-- include: snippets/templates.lua

local COUNTERS = {
  "availableReplicas", "readyReplicas", "replicas", "unavailableReplicas", "updatedReadyReplicas", "updatedReplicas",
}
local TEXTS = { "currentRevision", "labelSelector" }
local WORKLOADS = { "deploymentTemplate", "cloneSetTemplate", "advancedStatefulSetTemplate", "statefulSetTemplate" }

function subsets_of(object)
  return table_or_empty(get(object, "spec", "topology", "subsets"))
end

function workload_template(object)
  for _, workload in ipairs(WORKLOADS) do
    local template = get(object, "spec", "template", workload, "spec", "template")
    if template ~= nil then
      return template
    end
  end
  return get(object, "spec", "template")
end

-- A number of pods, or a percentage of all, rounded half up.
function portion(value, total, default, field)
  local percent = string.match(tostring(value), "^(%d+)%%$")
  if percent ~= nil then
    return math.floor(total * tonumber(percent) / 100 + 0.5)
  end
  return count(value, default, field)
end

function is_elastic(subsets)
  for _, subset in ipairs(subsets) do
    if subset.minReplicas ~= nil or subset.maxReplicas ~= nil then
      return true
    end
  end
  return false
end

function elastic_shares(subsets, total)
  local shares, left = {}, total
  for i, subset in ipairs(subsets) do
    shares[i] = math.min(portion(subset.minReplicas, total, 0, "minReplicas"), left)
    left = left - shares[i]
  end
  for i, subset in ipairs(subsets) do
    local most = portion(subset.maxReplicas, total, 2147483647, "maxReplicas")
    local more = math.max(math.min(most - shares[i], left), 0)
    shares[i] = shares[i] + more
    left = left - more
  end
  return shares
end

function specified_shares(subsets, total)
  local shares, open, left = {}, {}, total
  for i, subset in ipairs(subsets) do
    if subset.replicas ~= nil then
      shares[i] = portion(subset.replicas, total, 0, "subset replicas")
      left = left - shares[i]
    else
      open[#open + 1] = i
    end
  end
  table.sort(open, function(a, b)
    return tostring(subsets[a].name) > tostring(subsets[b].name)
  end)
  left = math.max(left, 0)
  for place, i in ipairs(open) do
    shares[i] = math.floor(left / #open) + (place <= left % #open and 1 or 0)
  end
  return shares
end

-- Adds a subset's node selector term to every required term of the pod.
function require_term(pod, term)
  local affinity = table_or_empty(pod.affinity)
  local node = table_or_empty(affinity.nodeAffinity)
  local required = table_or_empty(node.requiredDuringSchedulingIgnoredDuringExecution)
  local terms = table_or_empty(required.nodeSelectorTerms)
  if terms[1] == nil then
    terms = { {} }
  end
  for _, existing in ipairs(terms) do
    existing.matchExpressions = table_or_empty(existing.matchExpressions)
    for _, expression in ipairs(term.matchExpressions) do
      existing.matchExpressions[#existing.matchExpressions + 1] = copy(expression)
    end
  end
  required.nodeSelectorTerms = terms
  node.requiredDuringSchedulingIgnoredDuringExecution = required
  affinity.nodeAffinity = node
  pod.affinity = affinity
end

function subset_template(template, subset)
  local pod = copy(table_or_empty(get(template, "spec")))
  if type(get(subset, "nodeSelectorTerm", "matchExpressions")) == "table" then
    require_term(pod, subset.nodeSelectorTerm)
  end
  for _, toleration in ipairs(table_or_empty(subset.tolerations)) do
    pod.tolerations = table_or_empty(pod.tolerations)
    pod.tolerations[#pod.tolerations + 1] = copy(toleration)
  end
  local patch = table_or_empty(get(subset, "patch", "spec"))
  local patched = merged(pod, patch, true)
  patched.tolerations = copy(patch.tolerations) or pod.tolerations
  return { spec = patched }
end

function GetComponents(object)
  local total = count(get(object, "spec", "replicas"), 1, "spec.replicas")
  local template, subsets = workload_template(object), subsets_of(object)
  if subsets[1] == nil then
    return one_component(total, template)
  end
  local shares = is_elastic(subsets) and elastic_shares(subsets, total) or specified_shares(subsets, total)
  local components = {}
  for i, subset in ipairs(subsets) do
    local name = text_or_nil(subset.name) or "subset-" .. (i - 1)
    add_component(components, name, shares[i], pod_requirements(subset_template(template, subset)))
  end
  return components
end

-- Whether no subset is left that could take more or fewer pods.
function is_fixed(subsets)
  for _, subset in ipairs(subsets) do
    if subset.replicas == nil then
      return false
    end
  end
  return subsets[1] ~= nil and not is_elastic(subsets)
end

function all_pods(object)
  local pods = one_view(GetComponents(object))
  return pods
end

-- Without replicas Karmada does not divide an object.
function GetReplicas(object)
  if is_fixed(subsets_of(object)) then
    return 0
  end
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

-- A share that the subsets cannot be cut to, because they fix more pods or every subset is fixed, is refused: the
-- operator would make no pods at all.
function ReviseReplica(object, replicas)
  if replicas == all_pods(object) then
    return object
  end
  write_share(object, replicas, "replicas")
  local pods = all_pods(object)
  if replicas ~= 0 and pods ~= replicas then
    error("spec.replicas: the subsets fix " .. pods .. " pods, so this object cannot be cut to a share of " .. replicas .. "; "
      .. "propagate it with replicaSchedulingType: Duplicated", 0)
  end
  return object
end

function Retain(desired, observed)
  return retain_replicas(desired, observed)
end

-- All replicas are of the latest revision and ready. The kind itself reports readiness, not availability.
function InterpretHealth(object)
  local seen = { metadata = object.metadata, spec = object.spec, status = copy(table_or_empty(object.status)) }
  seen.status.availableReplicas = seen.status.availableReplicas or seen.status.readyReplicas
  return replicas_are_healthy(seen, "updatedReplicas")
end

function ReflectStatus(object)
  local status = reflect_replicas(object, COUNTERS)
  for _, field in ipairs({ "conditions", "currentRevision", "labelSelector", "subsetReplicas" }) do
    status[field] = get(object, "status", field)
  end
  return status
end

function AggregateStatus(object, items)
  aggregate_replicas(object, items, COUNTERS, TEXTS)
  local reports = reports_of(items)
  if #reports > 0 then
    object.status.conditions = fold_conditions(reports, #items)
    object.status.subsetReplicas = fold("tree", reports, "subsetReplicas", #items)
  end
  return object
end

function GetDependencies(object)
  local template = workload_template(object)
  local templates = { table_or_empty(template) }
  for i, subset in ipairs(subsets_of(object)) do
    templates[i + 1] = subset_template(template, subset)
  end
  return dependencies_of_templates(object, templates)
end
