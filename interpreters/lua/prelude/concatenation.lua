-- The `..` operator with our number text. Scripts' `a .. b` is compiled as `a .. C .. b` (see concatenation.py), where C
-- is the table below: its metamethod first sees (C, b), keeps b's text, and then (a, C), which makes the result.
local P = ...
local type, error = type, error
local number_text, charge_bytes = P.number_text, P.charge_bytes
local C = {}
local pending

local function text_of(value)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "number" then return number_text(value) end
  return error("attempt to concatenate a " .. kind .. " value", 3)
end

setmetatable(C, {
  __metatable = false,
  __concat = function(left, right)
    if left == C then
      pending = text_of(right)
      return C
    end
    local behind = pending
    pending = nil -- it may be large
    local text = text_of(left) .. behind
    charge_bytes(#text)
    return text
  end,
})
P.concatenation = C
