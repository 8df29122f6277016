-- Kinds that are one pod template and a number of replicas: Deployment and its relatives.
-- include: snippets/pods.lua
-- include: snippets/components.lua
-- include: snippets/dependencies.lua
local GENERATION = "resourcetemplate.karmada.io/generation"
local RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas"

function one_component(replicas, template)
  local components = {}
  add_component(components, "main", replicas, pod_requirements(template))
  return components
end

-- Writes a cluster's share into a field of the spec. All of them is no change, and neither is 0, which Karmada sends for
-- workloads that tell their components.
function write_share(object, replicas, field)
  if replicas ~= 0 and replicas ~= GetReplicas(object) then
    object.spec = table_or_empty(object.spec)
    object.spec[field] = replicas
  end
  return object
end

-- The named counters, and which generation of the member's object and of the template they tell of.
function reflect_replicas(object, fields)
  local status = {}
  if type(get(object, "status")) ~= "table" then
    return status
  end
  for _, field in ipairs(fields) do
    status[field] = object.status[field]
  end
  status.observedGeneration = object.status.observedGeneration
  status.generation = get(object, "metadata", "generation")
  status.resourceTemplateGeneration = tonumber(get(object, "metadata", "annotations", GENERATION))
  return status
end

-- Adds up the counters of all clusters; texts come from the last cluster that has one. The generation counts as
-- observed once every cluster reports on it.
function aggregate_replicas(object, items, counters, texts)
  local status = copy(table_or_empty(object.status))
  local generation = get(object, "metadata", "generation") or 0
  local up_to_date = 0
  for _, field in ipairs(counters) do
    status[field] = 0
  end
  for _, item in ipairs(table_or_empty(items)) do
    local report = table_or_empty(get(item, "status"))
    for _, field in ipairs(counters) do
      status[field] = status[field] + (tonumber(report[field]) or 0)
    end
    for _, field in ipairs(texts) do
      status[field] = text_or_nil(report[field]) or status[field]
    end
    if
      next(report) ~= nil
      and (report.observedGeneration or 0) >= (report.generation or 0)
      and (report.resourceTemplateGeneration or 0) >= generation
    then
      up_to_date = up_to_date + 1
    end
  end
  if up_to_date == #table_or_empty(items) then
    status.observedGeneration = generation
  end
  object.status = status
  return object
end

-- The controller has seen the latest spec, all replicas are of it, and all of these are available.
function replicas_are_healthy(object, updated)
  local status = table_or_empty(get(object, "status"))
  if (status.observedGeneration or 0) ~= (get(object, "metadata", "generation") or 0) then
    return false
  end
  local wanted = get(object, "spec", "replicas")
  if wanted ~= nil and (status[updated] or 0) < wanted then
    return false
  end
  return (status.availableReplicas or 0) >= (status[updated] or 0)
end

-- Where the member cluster scales by itself (an HPA there), a label on the template lets it keep its number.
function retain_replicas(desired, observed)
  local replicas = get(observed, "spec", "replicas")
  if get(desired, "metadata", "labels", RETAIN_REPLICAS) == "true" and replicas ~= nil then
    desired.spec = table_or_empty(desired.spec)
    desired.spec.replicas = replicas
  end
  return desired
end
