-- Pod templates put together from parts.
-- include: snippets/fields.lua

-- Lays one value over another: maps by key, lists by position or, if so asked, by the name of their items.
function merged(base, over, by_name)
  if type(base) ~= "table" or type(over) ~= "table" then
    if over == nil then
      return copy(base)
    end
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

function merged_template(base, over, by_name)
  if base == nil and over == nil then
    return nil
  end
  return merged(table_or_empty(base), table_or_empty(over), by_name)
end

-- Gives the named container of a pod these requests; its other resources stay. The container is added if missing.
function overwrite_requests(pod, name, requests)
  pod.containers = table_or_empty(pod.containers)
  local main = nil
  for _, container in ipairs(pod.containers) do
    if get(container, "name") == name then
      main = container
    end
  end
  if main == nil then
    main = { name = name }
    pod.containers[#pod.containers + 1] = main
  end
  main.resources = table_or_empty(main.resources)
  main.resources.requests = table_or_empty(main.resources.requests)
  for resource, quantity in pairs(requests) do
    main.resources.requests[resource] = quantity
  end
end
