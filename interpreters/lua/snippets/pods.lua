-- What the pods of a template need, as Kubernetes charges it, also where Karmada's own helper counts less: native
-- sidecars (init containers that keep running) and resources of the pod as a whole.
-- include: snippets/fields.lua
local kube = require("kube")

function quantity_text(quantity)
  if type(quantity) == "number" then
    return string.format("%.14g", quantity)
  end
  return tostring(quantity)
end

-- Requests of one container; what only has a limit requests its limit.
function container_requests(container)
  local requests = {}
  for name, quantity in pairs(table_or_empty(get(container, "resources", "limits"))) do
    requests[name] = quantity_text(quantity)
  end
  for name, quantity in pairs(table_or_empty(get(container, "resources", "requests"))) do
    requests[name] = quantity_text(quantity)
  end
  return requests
end

-- Containers reduced to their resources; nil when there are none.
function resource_claims(containers)
  local claims = {}
  for _, container in ipairs(table_or_empty(containers)) do
    local resources = get(container, "resources")
    if get(resources, "requests") ~= nil or get(resources, "limits") ~= nil then
      claims[#claims + 1] = { resources = resources }
    end
  end
  if claims[1] ~= nil then
    return claims
  end
  return nil
end

function claims_of_requests(requests)
  local claims = {}
  for _, request in ipairs(requests) do
    claims[#claims + 1] = { resources = { requests = request } }
  end
  return resource_claims(claims)
end

-- Requests of the whole pod that stand in place of its containers' (cpu, memory and huge pages only). A limit of the
-- pod stands in for a request where no container asks for that resource.
function whole_pod_requests(resources, asked)
  local requests = {}
  for _, source in ipairs({ "limits", "requests" }) do
    for name, quantity in pairs(table_or_empty(get(resources, source))) do
      local shared = name == "cpu" or name == "memory" or string.sub(name, 1, 10) == "hugepages-"
      if shared and (source == "requests" or not asked[name]) then
        requests[name] = quantity_text(quantity)
      end
    end
  end
  return requests
end

-- Restates a pod with native sidecars or pod-level resources by ordinary containers with the same total: a sidecar
-- counts beside the containers, and beside every init container declared after it.
function restated_claims(spec)
  local running, steps, sidecars, asked = {}, {}, {}, {}
  for _, container in ipairs(table_or_empty(spec.containers)) do
    running[#running + 1] = container_requests(container)
  end
  for _, container in ipairs(table_or_empty(spec.initContainers)) do
    local requests = container_requests(container)
    local keeps_running = get(container, "restartPolicy") == "Always"
    if keeps_running then
      running[#running + 1] = copy(requests)
    end
    for name, quantity in pairs(sidecars) do
      requests[name] = kube.resourceAdd(requests[name], quantity)
    end
    if keeps_running then
      sidecars = requests
    else
      steps[#steps + 1] = requests
    end
  end
  for _, group in ipairs({ running, steps }) do
    for _, requests in ipairs(group) do
      for name in pairs(requests) do
        asked[name] = true
      end
    end
  end
  local whole = whole_pod_requests(spec.resources, asked)
  for _, group in ipairs({ running, steps }) do
    for _, requests in ipairs(group) do
      for name in pairs(whole) do
        requests[name] = nil
      end
    end
  end
  running[#running + 1] = whole
  return claims_of_requests(running), claims_of_requests(steps)
end

function has_native_sidecar(spec)
  for _, container in ipairs(table_or_empty(spec.initContainers)) do
    if get(container, "restartPolicy") == "Always" then
      return true
    end
  end
  return false
end

-- The required node affinity, or nil. Terms that Kubernetes would refuse are the author's mistake.
function required_node_terms(spec)
  local required = get(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
  local terms = table_or_empty(get(required, "nodeSelectorTerms"))
  if terms[1] == nil then
    return nil
  end
  for _, term in ipairs(terms) do
    for _, field in ipairs({ "matchExpressions", "matchFields" }) do
      for _, expression in ipairs(table_or_empty(get(term, field))) do
        if get(expression, "key") == nil or get(expression, "operator") == nil then
          error("required node affinity: an expression needs a key and an operator", 0)
        end
      end
    end
  end
  return required
end

-- Whether a quantity is written so that neither rounding nor another unit could change it.
function is_plain(name, quantity)
  if name == "cpu" then
    return string.find(quantity, "^[1-9]%d*m?$") ~= nil
  elseif name == "memory" or name == "ephemeral-storage" then
    return string.find(quantity, "^[1-9]%d*[KMGTPE]i$") ~= nil
  end
  return string.find(name, "/", 1, true) ~= nil and string.find(quantity, "^[1-9]%d*$") ~= nil
end

-- The requests of a pod whose containers need no adding up: one of them at most asks for anything, in plain amounts.
-- Answers whether it is such a pod, too.
function lone_requests(claims)
  if claims.overhead ~= nil or claims.initContainers ~= nil or get(claims, "containers", 2) ~= nil then
    return false, nil
  end
  if claims.containers == nil then
    return true, nil
  end
  local requests = container_requests(claims.containers[1])
  for name, quantity in pairs(requests) do
    if not is_plain(name, quantity) then
      return false, nil
    end
  end
  return true, requests
end

-- A deep copy, or nil of what is empty.
function copy_unless_empty(value)
  local result = nil
  for key, item in pairs(table_or_empty(value)) do
    result = result or {}
    result[key] = copy(item)
  end
  return result
end

-- What `kube` answers for a pod; a pod that needs no adding up is answered here, for that costs less.
function claimed_requirements(claims, required)
  local is_lone, requests = lone_requests(claims)
  if not is_lone then
    claims.affinity = required and { nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution = required } }
    return kube.accuratePodRequirements({ spec = claims })
  end
  local claim = nil
  local selector, tolerations = copy_unless_empty(claims.nodeSelector), copy_unless_empty(claims.tolerations)
  if selector ~= nil or tolerations ~= nil or required ~= nil then
    claim = { nodeSelector = selector, tolerations = tolerations, hardNodeAffinity = copy(required) }
  end
  if requests == nil and claim == nil then
    return nil
  end
  return { nodeClaim = claim, resourceRequest = requests }
end

-- The replicaRequirements of a pod template, or nil when it asks for nothing. `priority` is the class of pods whose
-- template names none.
function pod_requirements(template, priority)
  local spec = table_or_empty(get(template, "spec"))
  local claims = { overhead = spec.overhead, nodeSelector = spec.nodeSelector, tolerations = spec.tolerations }
  if spec.resources ~= nil or has_native_sidecar(spec) then
    claims.containers, claims.initContainers = restated_claims(spec)
  else
    claims.containers = resource_claims(spec.containers)
    claims.initContainers = resource_claims(spec.initContainers)
  end
  local requirements = claimed_requirements(claims, required_node_terms(spec))
  priority = text_or_nil(spec.priorityClassName) or priority
  if priority ~= nil then
    requirements = requirements or {}
    requirements.priorityClassName = priority
  end
  return requirements
end
