-- require("kube"): the pod and quantity functions. Only texts and numbers go to the host and come back.
local P = ...
local type, error, select, format, tonumber = type, error, select, string.format, tonumber
local host, pause, resume, weight_of = P.host, P.pause, P.resume, P.weight_of
local QUANTITIES, PODS = 100, 1000 -- weights: arithmetic with one quantity, and looking through a pod template

-- What the host answers, or its complaint at the line of the script that called.
local function answered(ok, answer)
  if ok then return answer end
  if answer == P.OUT_OF_MEMORY then P.raise({ limit = "memory" }) end
  return error(answer, 3)
end

-- Quantity arithmetic is pure, so answers may outlive a call; bounded.
local amounts, amount_count = {}, 0
local function remember(key, value)
  if amount_count >= 4096 then amounts, amount_count = {}, 0 end
  amounts[key], amount_count = value, amount_count + 1
  return value
end

local function quantity_argument(value, n, name)
  if value == nil then return "0" end
  if type(value) == "string" then return value end
  if type(value) == "number" then return P.number_text(value) end
  return error(format("bad argument #%d to '%s' (string expected, got %s)", n, name, type(value)), 3)
end

local function getResourceQuantity(...)
  if select("#", ...) ~= 1 then error("getResourceQuantity takes one quantity", 2) end
  local text = quantity_argument((...), 1, "getResourceQuantity")
  pause()
  local ok, amount = true, amounts[text]
  if not amount then
    ok, amount = host.quantity(text)
    if ok then remember(text, amount) end
  end
  resume(QUANTITIES)
  return (answered(ok, amount))
end

local function resourceAdd(...)
  local n = select("#", ...)
  if n == 0 then error("resourceAdd takes at least one quantity", 2) end
  local texts = {}
  for i = 1, n do texts[i] = quantity_argument((select(i, ...)), i, "resourceAdd") end
  local key = "+" .. table.concat(texts, "\n")
  pause()
  local ok, sum = true, amounts[key]
  if not sum then
    ok, sum = host.sum(key)
    if ok then remember(key, sum) end
  end
  resume(QUANTITIES * n)
  return (answered(ok, sum))
end

-- What the host finds in a pod template.
local function asked(ask, template, name, ...)
  if type(template) ~= "table" then
    error(format("bad argument #1 to '%s' (table expected, got %s)", name, type(template)), 3)
  end
  pause()
  local ok, text = pcall(P.encode, template, 200, 1000000)
  local found, answer, value
  if ok then
    found, answer = ask(text, ...)
    value = found and P.decode(answer)
  end
  resume(PODS + (ok and weight_of(#text + #answer) or 0))
  if ok then
    if not found then answered(found, answer) end
    return value
  end
  if P.is_own(text) and text.reply then
    error(format("bad argument #1 to '%s': %s: %s", name, text.path, text.problem), 3)
  end
  return error(text, 0)
end

local function accuratePodRequirements(template)
  if template == nil then return nil end
  return asked(host.requirements, template, "accuratePodRequirements")
end

local function getPodDependencies(template, namespace)
  if template == nil then return {} end
  if namespace ~= nil and type(namespace) ~= "string" then
    error(format("bad argument #2 to 'getPodDependencies' (string expected, got %s)", type(namespace)), 2)
  end
  return asked(host.dependencies, template, "getPodDependencies", namespace or "")
end

function P.new_require()
  local kube
  return function(name)
    if name ~= "kube" then
      error(format("module %s is not available to scripts; only \"kube\" is", P.value_name(name)), 2)
    end
    kube = kube or {
      accuratePodRequirements = accuratePodRequirements, getPodDependencies = getPodDependencies,
      getResourceQuantity = getResourceQuantity, resourceAdd = resourceAdd,
    }
    return kube
  end
end
