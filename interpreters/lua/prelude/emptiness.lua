-- Which kind an empty table has that a script made: the kind of an empty one at the same path of an input.
local P = ...
local type, next = type, next

-- Kinds by path without indices; an object wins over a list. Made only when a script returns a new empty table.
local kinds, kinds_of

local function collect(value, path, origins, found)
  if type(value) ~= "table" then return end
  local origin = origins[value]
  if next(value) == nil and origin and not origin.nulls then
    if found[path] ~= "object" then found[path] = origin.kind end
    return
  end
  for key, child in next, value do
    collect(child, type(key) == "number" and path .. "\0[]" or path .. "\0" .. key, origins, found)
  end
end

-- `inputs` are the JSON texts of the arguments; a new list for every call.
function P.kind_at(inputs, path, depth)
  if kinds_of ~= inputs then
    kinds, kinds_of = {}, inputs
    for i = 1, #inputs do collect(P.decode(inputs[i]), "", (P.decoded()), kinds) end
  end
  local text = ""
  for i = 1, depth do
    text = text .. "\0" .. (type(path[i]) == "number" and "[]" or path[i])
  end
  return kinds[text]
end
