-- Reading objects whose optional parts may be missing or of another type than expected.

-- The value at a path of one to five keys; nil as soon as a step is missing.
function get(value, a, b, c, d, e)
  if type(value) ~= "table" then
    return nil
  end
  value = value[a]
  if b == nil or value == nil then
    return value
  end
  return get(value, b, c, d, e)
end

-- The table itself, or an empty one in place of anything else: safe to walk and to index.
function table_or_empty(value)
  if type(value) == "table" then
    return value
  end
  return {}
end

-- A text that says something, or nil.
function text_or_nil(value)
  if type(value) == "string" and value ~= "" then
    return value
  end
  return nil
end

-- A count of pods or the like. An absent one has a default; one that cannot be a count is the author's mistake.
function count(value, default, field)
  if value == nil or value == "" then
    return default
  end
  local number = tonumber(value)
  if number == nil or number < 0 or number > 2147483647 or number ~= math.floor(number) then
    local got = type(value) == "table" and "a table" or tostring(value)
    error(field .. ": expected a whole number from 0 to 2147483647, got " .. got, 0)
  end
  return number
end

-- Keys in order, so that the same object always gives the same answer.
function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- A copy of the first level, to change fields without changing the original.
function shallow(map)
  local result = {}
  for key, item in pairs(table_or_empty(map)) do
    result[key] = item
  end
  return result
end

-- A deep copy. Karmada refuses answers in which one table stands in two places.
function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local result = {}
  for key, item in pairs(value) do
    result[key] = copy(item)
  end
  return result
end

-- Equal in content.
function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  for key, item in pairs(a) do
    if not same(item, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end
