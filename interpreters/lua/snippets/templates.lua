-- Pod templates put together from parts.
-- include: snippets/fields.lua
-- include: snippets/pods.lua

-- Lays one value over another: maps by key, lists by position or, if so asked, by the name of their items.
function merged(base, over, by_name)
  if type(base) ~= "table" or type(over) ~= "table" then
    return copy(over)
  end
  local result = copy(base)
  if by_name and get(base, 1, "name") ~= nil and get(over, 1, "name") ~= nil then
    for _, item in ipairs(over) do
      local place = #result + 1
      for i, existing in ipairs(base) do
        if get(existing, "name") == get(item, "name") then
          place = i
        end
      end
      result[place] = merged(result[place], item, by_name)
    end
    return result
  end
  for key, value in pairs(over) do
    result[key] = merged(base[key], value, by_name)
  end
  return result
end

-- One pod spec laid over another; the result is not to be changed.
function merged_pod(base, over, by_name)
  if type(base) ~= "table" or type(over) ~= "table" then
    return table_or_empty(base or over)
  end
  return merged(base, over, by_name)
end

-- What requirements follow from in a pod with these requests in the named container, whose other resources stay. The
-- container is added if missing.
function with_requests(pod, name, requests)
  local result, containers, found = requiring_fields(pod), {}, false
  for i, container in ipairs(table_or_empty(pod.containers)) do
    if get(container, "name") == name then
      local resources = table_or_empty(container.resources)
      if resources.requests ~= nil then
        requests = merged(resources.requests, requests, false)
      end
      container = { name = name, resources = { requests = requests, limits = resources.limits } }
      found = true
    end
    containers[i] = container
  end
  if not found then
    containers[#containers + 1] = { name = name, resources = { requests = requests } }
  end
  result.containers = containers
  return result
end
