-- Component lists, their names, and the view of them for callers that know one kind of pod only.
-- include: snippets/fields.lua
local kube = require("kube")

-- A name of at most 32 characters. A longer one becomes its first 23 characters, a dash and a checksum of the whole in
-- eight hexadecimal digits, so that names with a common beginning stay apart.
function component_name(name)
  if #name <= 32 then
    return name
  end
  local checksum = 0
  for i = 1, #name do
    checksum = (checksum * 31 + string.byte(name, i)) % 4294967291
  end
  return string.sub(name, 1, 23) .. "-" .. string.format("%08x", checksum)
end

function has_component(components, name)
  for _, component in ipairs(components) do
    if component.name == name then
      return true
    end
  end
  return false
end

-- Appends a component. A name that is taken gets a number: `name-2`, `name-3` and so on.
function add_component(components, name, replicas, requirements)
  local unique, number = component_name(name), 1
  while has_component(components, unique) do
    number = number + 1
    unique = component_name(name .. "-" .. number)
  end
  components[#components + 1] = { name = unique, replicas = replicas, replicaRequirements = requirements }
end

-- The components as one number of equal pods: all pods, the largest request per resource, and the node claim and
-- priority class that all of them share. Components without pods do not weigh in unless there is no other.
function one_view(components, namespace)
  local total = 0
  for _, component in ipairs(components) do
    total = total + component.replicas
  end
  local request, claims, priorities = {}, {}, {}
  for _, component in ipairs(components) do
    if component.replicas > 0 or total == 0 then
      local needs = component.replicaRequirements or {}
      for name, quantity in pairs(needs.resourceRequest or {}) do
        local largest = request[name]
        if largest == nil or kube.getResourceQuantity(quantity) > kube.getResourceQuantity(largest) then
          request[name] = quantity
        end
      end
      claims[#claims + 1] = needs.nodeClaim or false
      priorities[#priorities + 1] = needs.priorityClassName or false
    end
  end
  local view = { nodeClaim = shared_by_all(claims), priorityClassName = shared_by_all(priorities) }
  if next(request) ~= nil then
    view.resourceRequest = request
  end
  if next(view) == nil then
    return total, nil
  end
  view.namespace = namespace
  return total, view
end

-- The value that stands in every place of a list, or nil.
function shared_by_all(values)
  for i = 2, #values do
    if not same(values[i], values[1]) then
      return nil
    end
  end
  return values[1] or nil
end
