-- Parts of an object that stay JSON text until a script asks, and the kinds of empty tables by path.
local P = ...
local type, next = type, next

function P.load_lazy(t)
  local lazy = P.lazy_fields(t)
  if lazy then
    for key in next, lazy do local _ = t[key] end
  end
end

-- Kinds of the empty tables of all inputs, by path without indices. Made only when a script returns a new empty table.
local kinds_of
local kinds

local function collect(value, path, found)
  if type(value) ~= "table" then return end
  local origin = P.origin_of(value)
  if next(value) == nil and origin and not origin.nulls then
    if found[path] ~= "object" then found[path] = origin.kind end
    return
  end
  P.load_lazy(value)
  for key, child in next, value do
    collect(child, type(key) == "number" and path .. "\0[]" or path .. "\0" .. key, found)
  end
end

function P.kind_at(path, depth)
  if P.inputs == nil then return nil end
  if kinds_of ~= P.inputs then
    kinds, kinds_of = {}, P.inputs
    for i = 1, #P.inputs do collect(P.decode(P.inputs[i]), "", kinds) end
  end
  local text = ""
  for i = 1, depth do
    text = text .. "\0" .. (type(path[i]) == "number" and "[]" or path[i])
  end
  return kinds[text]
end
