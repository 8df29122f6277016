-- The `string` library for scripts: numbers as arguments count as their text, and no text is overlong.
local P = ...
local type, select, error, unpack, tonumber = type, select, error, unpack, tonumber
local number_text, bad_argument = P.number_text, P.bad_argument
local s_byte, s_char, s_find, s_format, s_gmatch, s_gsub = string.byte, string.char, string.find, string.format, string.gmatch, string.gsub
local s_lower, s_match, s_rep, s_reverse, s_sub, s_upper =
  string.lower, string.match, string.rep, string.reverse, string.sub, string.upper
local LONGEST = 1000000
local pause, resume, charge_bytes = P.pause, P.resume, P.charge_bytes

-- The library's own functions are called last, so that their complaints name the function that the script called; what
-- they write is charged before, as far as it can be told, or behind where the name cannot come up.
local function charged(s)
  charge_bytes(#s)
  return s
end
local function written(text, ...)
  charge_bytes(#text)
  return text, ...
end

-- A string argument: numbers count as their text, and very long texts are refused because a pattern on them may take for ever.
local function text_argument(s, n, name)
  local kind = type(s)
  if kind == "string" then
    if #s > LONGEST then
      error(s_format("argument #%d to '%s' has %d bytes, at most %d are allowed", n, name, #s, LONGEST), 3)
    end
    return s
  elseif kind == "number" then
    return number_text(s)
  end
  return error(s_format("bad argument #%d to '%s' (string expected, got %s)", n, name, s == nil and "nil" or kind), 3)
end
P.text_argument = text_argument

local function to_text(value)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "number" then return number_text(value) end
  if kind == "boolean" then return value and "true" or "false" end
  return kind -- no address: the same call gives the same text
end
P.to_text = to_text

local function lib_byte(s, i, j) return s_byte(text_argument(s, 1, "byte"), i or 1, j or i or 1) end
local function lib_find(s, pattern, init, plain)
  if type(s) ~= "string" or #s > LONGEST then s = text_argument(s, 1, "find") end
  if type(pattern) ~= "string" or #pattern > LONGEST then pattern = text_argument(pattern, 2, "find") end
  charge_bytes(#s)
  return s_find(s, pattern, init or 1, plain)
end
local function lib_match(s, pattern, init)
  if type(s) ~= "string" or #s > LONGEST then s = text_argument(s, 1, "match") end
  if type(pattern) ~= "string" or #pattern > LONGEST then pattern = text_argument(pattern, 2, "match") end
  charge_bytes(#s)
  return s_match(s, pattern, init or 1)
end
local function lib_gmatch(s, pattern)
  s = text_argument(s, 1, "gmatch")
  charge_bytes(#s)
  return s_gmatch(s, text_argument(pattern, 2, "gmatch"))
end
local function lib_len(s) return #text_argument(s, 1, "len") end
local function lib_lower(s) return s_lower(charged(text_argument(s, 1, "lower"))) end
local function lib_upper(s) return s_upper(charged(text_argument(s, 1, "upper"))) end
local function lib_reverse(s) return s_reverse(charged(text_argument(s, 1, "reverse"))) end
local function lib_sub(s, i, j)
  s = text_argument(s, 1, "sub")
  if #s > 512 then return written(s_sub(s, i or 1, j or -1)) end
  return s_sub(s, i or 1, j or -1)
end

local function lib_rep(s, n, separator)
  s = text_argument(s, 1, "rep")
  separator = separator == nil and "" or text_argument(separator, 3, "rep")
  local times = tonumber(n)
  if not times then bad_argument(2, "rep", "number", n) end
  if times > 0 and (#s + #separator) * times > LONGEST then
    error(s_format("the result of 'rep' would have more than %d bytes", LONGEST), 2)
  end
  if times > 0 then charge_bytes((#s + #separator) * times) end
  return s_rep(s, times, separator)
end

local function text_if_number(value) return type(value) == "number" and number_text(value) or value end

local function lib_gsub(s, pattern, replacement, limit)
  s, pattern = text_argument(s, 1, "gsub"), text_argument(pattern, 2, "gsub")
  local kind = type(replacement)
  local by = replacement
  if kind == "function" then
    local called = P.callback(replacement)
    by = function(...) return text_if_number(called(...)) end
  elseif kind == "table" then
    by = function(key) return text_if_number(replacement[key]) end
  elseif kind == "string" or kind == "number" then
    by = text_argument(replacement, 3, "gsub")
  end
  charge_bytes(#s)
  if type(by) ~= "function" and type(by) ~= "string" then return s_gsub(s, pattern, by, limit) end
  if limit ~= nil then return written(s_gsub(s, pattern, by, limit)) end
  return written(s_gsub(s, pattern, by))
end

-- Format text -> which arguments %s and %q print. Pure, so they may outlive a call; bounded.
local REMEMBERED, LONGEST_REMEMBERED = 512, 64
local printed, remembered = {}, 0

local function printed_arguments(form)
  local found, at, argument = {}, 1, 0
  while true do
    local _, stop, conversion = s_find(form, "%%[^%a%%]*([%a%%])", at)
    if not stop then break end
    at = stop + 1
    if conversion ~= "%" then
      argument = argument + 1
      if conversion == "p" then return nil end
      if conversion == "s" or conversion == "q" then found[#found + 1] = argument end
    end
  end
  if #form <= LONGEST_REMEMBERED then
    if remembered >= REMEMBERED then printed, remembered = {}, 0 end
    printed[form], remembered = found, remembered + 1
  end
  return found
end

local function lib_format(form, ...)
  form = charged(text_argument(form, 1, "format"))
  pause()
  local positions = printed[form] or printed_arguments(form)
  resume(0)
  if not positions then error("invalid conversion '%p' to 'format'", 2) end
  local n, arguments = select("#", ...), nil
  for i = 1, #positions do
    local at = positions[i]
    local value = select(at, ...)
    if type(value) == "string" then charge_bytes(#value) end
    if at <= n and type(value) ~= "string" then
      arguments = arguments or { ... }
      arguments[at] = to_text(value)
    end
  end
  if arguments then return s_format(form, unpack(arguments, 1, n)) end
  return s_format(form, ...)
end

local string_metatable = debug.getmetatable("")

-- A table of its own for every call, also for ("x"):upper().
function P.fresh_strings()
  local strings = {
    byte = lib_byte, char = s_char, find = lib_find, format = lib_format, gmatch = lib_gmatch, gsub = lib_gsub,
    len = lib_len, lower = lib_lower, match = lib_match, rep = lib_rep, reverse = lib_reverse, sub = lib_sub,
    upper = lib_upper,
  }
  string_metatable.__index = strings
  return strings
end
