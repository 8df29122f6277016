-- What the pods of a template need, as Kubernetes charges it, also where Karmada's own helper counts less: native
-- sidecars (init containers that keep running) and resources of the pod as a whole.
-- include: snippets/fields.lua
local kube = require("kube")

function quantity_text(quantity)
  if type(quantity) == "number" then
    return string.format("%.14g", quantity)
  end
  return type(quantity) == "string" and quantity or tostring(quantity)
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

-- A copy of a list, or nil of an empty one.
function listed(values)
  local result = nil
  for i, value in ipairs(table_or_empty(values)) do
    result = result or {}
    result[i] = value
  end
  return result
end

-- Copies of node selector expressions. Those that Kubernetes would refuse are the author's mistake.
function node_expressions(expressions)
  local result = nil
  for i, expression in ipairs(table_or_empty(expressions)) do
    if get(expression, "key") == nil or get(expression, "operator") == nil then
      error("required node affinity: an expression needs a key and an operator", 0)
    end
    result = result or {}
    result[i] = { key = expression.key, operator = expression.operator, values = listed(expression.values) }
  end
  return result
end

-- A copy of the required node affinity, or nil.
function required_node_terms(spec)
  if spec.affinity == nil then
    return nil
  end
  local required = get(spec.affinity, "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
  local terms = nil
  for i, term in ipairs(table_or_empty(get(required, "nodeSelectorTerms"))) do
    terms = terms or {}
    terms[i] = {
      matchExpressions = node_expressions(get(term, "matchExpressions")),
      matchFields = node_expressions(get(term, "matchFields")),
    }
  end
  return terms and { nodeSelectorTerms = terms }
end

-- Copies of the tolerations, or nil.
function tolerations_of(spec)
  local result = nil
  for i, given in ipairs(table_or_empty(spec.tolerations)) do
    result = result or {}
    result[i] = type(given) ~= "table" and given or {
      effect = given.effect, key = given.key, operator = given.operator, value = given.value,
      tolerationSeconds = given.tolerationSeconds,
    }
  end
  return result
end

-- Where the pods may run, or nil. All of it is copied: several components may come of one template, and Karmada refuses
-- answers in which one table stands in two places.
function node_claim(spec)
  local required, tolerations = required_node_terms(spec), tolerations_of(spec)
  local selector = nil
  for label, value in pairs(table_or_empty(spec.nodeSelector)) do
    selector = selector or {}
    selector[label] = value
  end
  if required == nil and tolerations == nil and selector == nil then
    return nil
  end
  return { hardNodeAffinity = required, nodeSelector = selector, tolerations = tolerations }
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

-- Requests of one container as container_requests answers them, but nil where an amount is not written plainly.
function plain_container_requests(container)
  local requests = container_requests(container)
  for name, quantity in pairs(requests) do
    if not is_plain(name, quantity) then
      return nil
    end
  end
  return requests
end

-- Whether nothing in a pod asks for resources.
function asks_nothing(spec)
  for _, container in ipairs(table_or_empty(spec.containers)) do
    if get(container, "resources") ~= nil then
      return false
    end
  end
  return spec.resources == nil and spec.overhead == nil and spec.initContainers == nil
end

-- What a pod of ordinary containers is charged: their sum, or what the largest init container asks where that is more.
-- Nil where an amount is not written plainly.
function plain_requests(spec)
  local total = {}
  for _, container in ipairs(table_or_empty(spec.containers)) do
    local requests = plain_container_requests(container)
    if requests == nil then
      return nil
    end
    for name, quantity in pairs(requests) do
      total[name] = total[name] == nil and quantity or kube.resourceAdd(total[name], quantity)
    end
  end
  for _, container in ipairs(table_or_empty(spec.initContainers)) do
    local requests = plain_container_requests(container)
    if requests == nil then
      return nil
    end
    for name, quantity in pairs(requests) do
      if total[name] == nil or kube.getResourceQuantity(quantity) > kube.getResourceQuantity(total[name]) then
        total[name] = quantity
      end
    end
  end
  return total
end

-- What Kubernetes charges for the pod, or nil. Plain amounts are added up here: to hand `kube` the pod costs more.
function pod_requests(spec)
  local requests, pod = nil, { overhead = spec.overhead }
  if spec.resources ~= nil or has_native_sidecar(spec) then
    pod.containers, pod.initContainers = restated_claims(spec)
  else
    pod.containers, pod.initContainers = spec.containers, spec.initContainers
  end
  if pod.overhead == nil then
    requests = plain_requests(pod)
  end
  if requests == nil then
    pod.containers, pod.initContainers = resource_claims(pod.containers), resource_claims(pod.initContainers)
    requests = table_or_empty(get(kube.accuratePodRequirements({ spec = pod }), "resourceRequest"))
  end
  return next(requests) ~= nil and requests or nil
end

-- The replicaRequirements of a pod template, or nil when it asks for nothing. `priority` is the class of pods whose
-- template names none.
function pod_requirements(template, priority)
  local spec = table_or_empty(get(template, "spec"))
  return requirements_with(spec, pod_requests(spec), priority)
end

-- The replicaRequirements of a pod that is charged for these requests.
function requirements_with(spec, requests, priority)
  local claim = node_claim(spec)
  priority = text_or_nil(spec.priorityClassName) or priority
  if claim == nil and requests == nil and priority == nil then
    return nil
  end
  return { nodeClaim = claim, priorityClassName = priority, resourceRequest = requests }
end

-- The fields of a pod that its requirements follow from, to change some of them without changing the original.
function requiring_fields(pod)
  return {
    affinity = pod.affinity, containers = pod.containers, initContainers = pod.initContainers,
    nodeSelector = pod.nodeSelector, overhead = pod.overhead, priorityClassName = pod.priorityClassName,
    resources = pod.resources, tolerations = pod.tolerations,
  }
end
