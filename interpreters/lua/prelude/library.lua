-- What scripts may call: base, string, table, math, os.time and os.date, made anew for every call.
local P = ...
local type, select, error, unpack, next, sort, rawget = type, select, error, unpack, next, table.sort, rawget
local number_text, floor = P.number_text, math.floor
local s_byte, s_char, s_find, s_format, s_gmatch, s_gsub = string.byte, string.char, string.find, string.format, string.gmatch, string.gsub
local s_len, s_lower, s_match, s_rep, s_reverse, s_sub, s_upper =
  string.len, string.lower, string.match, string.rep, string.reverse, string.sub, string.upper
local t_concat, t_insert, t_remove = table.concat, table.insert, table.remove
local LONGEST = 1000000

local function bad_argument(n, name, wanted, value)
  error(s_format("bad argument #%d to '%s' (%s expected, got %s)", n, name, wanted, value == nil and "nil" or type(value)), 3)
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

local function to_text(value)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "number" then return number_text(value) end
  if kind == "boolean" then return value and "true" or "false" end
  return kind -- no address: the same call gives the same text
end
P.to_text = to_text

-- Iteration order -----------------------------------------------------------------------------------------------------
-- 1..n, other numbers ascending, strings bytewise, false before true; tables and functions as keys come last, unordered.
-- Behind them, in the order they came, the keys that the script stored itself by `t[key] = value`.
local RANK = { number = 1, string = 2, boolean = 3 }

local function before(a, b)
  local x, y = RANK[type(a)] or 4, RANK[type(b)] or 4
  if x ~= y then return x < y end
  if x <= 2 then return a < b end
  return x == 3 and b and not a
end

-- Keys that the script stored itself, in the order they came (see insertion_order.py): table -> { n, [key] = place }.
local noted = {}

function P.note_key(t, key)
  if type(key) == "string" and type(t) == "table" and rawget(t, key) == nil then
    local places = noted[t]
    if not places then
      places = { 0 }
      noted[t] = places
    end
    if not places[key] then
      places[1] = places[1] + 1
      places[key] = places[1]
    end
  end
  return key
end

local function sorted_keys(t)
  P.wake_all(t)
  local places = noted[t]
  local keys, n, strings, ordered = {}, 0, true, true
  for key in next, t do
    n = n + 1
    keys[n] = key
    if key ~= n then ordered = false end
    if type(key) ~= "string" then strings = false end
  end
  if not ordered and n > 1 then
    if places then
      sort(keys, function(a, b)
        local x, y = type(a) == "string" and places[a] or 0, type(b) == "string" and places[b] or 0
        if x ~= y then return x < y end
        return before(a, b)
      end)
    elseif strings then sort(keys) else sort(keys, before) end
  end
  return keys, n
end

local function lib_pairs(t)
  if type(t) ~= "table" then bad_argument(1, "pairs", "table", t) end
  local keys, n = sorted_keys(t)
  local i = 0
  return function()
    while i < n do
      i = i + 1
      local key = keys[i]
      local value = t[key]
      if value ~= nil then return key, value end
    end
  end, t, nil
end

local walks -- table -> { keys, count, position of each key }, for `next`

local function walk_of(t)
  local keys, n = sorted_keys(t)
  local positions = {}
  for i = 1, n do positions[keys[i]] = i end
  local walk = { keys = keys, n = n, positions = positions }
  walks[t] = walk
  return walk
end

local function lib_next(t, key)
  if type(t) ~= "table" then bad_argument(1, "next", "table", t) end
  local walk = key ~= nil and walks[t] or walk_of(t)
  local i = 0
  if key ~= nil then
    i = walk.positions[key]
    if not i then
      walk = walk_of(t)
      i = walk.positions[key] or error("invalid key to 'next'", 2)
    end
  end
  local keys = walk.keys
  for j = i + 1, walk.n do
    local k = keys[j]
    local value = t[k]
    if value ~= nil then return k, value end
  end
  return nil
end

-- string --------------------------------------------------------------------------------------------------------------
local function lib_byte(s, i, j) return s_byte(text_argument(s, 1, "byte"), i or 1, j or i or 1) end
local function lib_find(s, pattern, init, plain)
  return s_find(text_argument(s, 1, "find"), text_argument(pattern, 2, "find"), init or 1, plain)
end
local function lib_match(s, pattern, init)
  return s_match(text_argument(s, 1, "match"), text_argument(pattern, 2, "match"), init or 1)
end
local function lib_gmatch(s, pattern) return s_gmatch(text_argument(s, 1, "gmatch"), text_argument(pattern, 2, "gmatch")) end
local function lib_len(s) return #text_argument(s, 1, "len") end
local function lib_lower(s) return s_lower(text_argument(s, 1, "lower")) end
local function lib_upper(s) return s_upper(text_argument(s, 1, "upper")) end
local function lib_reverse(s) return s_reverse(text_argument(s, 1, "reverse")) end
local function lib_sub(s, i, j) return s_sub(text_argument(s, 1, "sub"), i or 1, j or -1) end

local function lib_rep(s, n, separator)
  s = text_argument(s, 1, "rep")
  separator = separator == nil and "" or text_argument(separator, 3, "rep")
  local times = tonumber(n)
  if not times then bad_argument(2, "rep", "number", n) end
  if times > 0 and (#s + #separator) * times > LONGEST then
    error(s_format("the result of 'rep' would have more than %d bytes", LONGEST), 2)
  end
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
  if limit ~= nil then return s_gsub(s, pattern, by, limit) end
  return s_gsub(s, pattern, by)
end

local function lib_format(form, ...)
  form = text_argument(form, 1, "format")
  local n = select("#", ...)
  local arguments
  local at, argument = 1, 0
  while true do
    local _, stop, conversion = s_find(form, "%%[^%a%%]*([%a%%])", at)
    if not stop then break end
    at = stop + 1
    if conversion ~= "%" then
      argument = argument + 1
      if conversion == "p" then error("invalid conversion '%p' to 'format'", 2) end
      if (conversion == "s" or conversion == "q") and argument <= n then
        local value = select(argument, ...)
        if type(value) ~= "string" then
          arguments = arguments or { ... }
          arguments[argument] = to_text(value)
        end
      end
    end
  end
  if arguments then return s_format(form, unpack(arguments, 1, n)) end
  return s_format(form, ...)
end

-- table ---------------------------------------------------------------------------------------------------------------
local function lib_concat(t, separator, i, j)
  if type(t) ~= "table" then bad_argument(1, "concat", "table", t) end
  separator = separator == nil and "" or text_argument(separator, 2, "concat")
  i, j = i or 1, j or #t
  local copy
  for at = i, j do
    local value = t[at]
    if value == nil then break end
    if type(value) == "number" then
      copy = copy or {}
      copy[at] = number_text(value)
    end
  end
  if copy then
    for at = i, j do
      if copy[at] == nil then copy[at] = t[at] end
      if t[at] == nil then break end
    end
    t = copy
  end
  return t_concat(t, separator, i, j)
end

local function lib_insert(t, ...)
  if type(t) ~= "table" then bad_argument(1, "insert", "table", t) end
  local n = select("#", ...)
  if n == 1 then
    t[#t + 1] = ...
    return
  end
  local position, value = ...
  local at = tonumber(position)
  if n ~= 2 then error("wrong number of arguments to 'insert'", 2) end
  if not at then bad_argument(2, "insert", "number", position) end
  if at < 1 then error(s_format("bad argument #2 to 'insert' (position %s is below 1)", number_text(at)), 2) end
  return t_insert(t, at, value)
end

local function lib_remove(t, position)
  if type(t) ~= "table" then bad_argument(1, "remove", "table", t) end
  if position == nil then return t_remove(t) end
  local at = tonumber(position)
  if not at then bad_argument(2, "remove", "number", position) end
  if at < 1 or at > #t then return nil end
  return t_remove(t, at)
end

local function lib_getn(t)
  if type(t) ~= "table" then bad_argument(1, "getn", "table", t) end
  return #t
end

local function lib_sort(t, less)
  if type(t) ~= "table" then bad_argument(1, "sort", "table", t) end
  if less == nil then return sort(t) end
  if type(less) ~= "function" then bad_argument(2, "sort", "function", less) end
  return sort(t, P.callback(less))
end

-- math ----------------------------------------------------------------------------------------------------------------
local seeded = false
local function lib_random(...)
  if not seeded then
    math.randomseed(0) -- the same numbers in every call
    seeded = true
  end
  return math.random(...)
end
local function lib_randomseed(seed)
  seeded = true
  math.randomseed(tonumber(seed) or 0)
end

-- os ------------------------------------------------------------------------------------------------------------------
local os_time, os_date = os.time, os.date

-- Days since 1970-01-01 of a day in the Gregorian calendar; months beyond 12 roll over.
local function days(year, month, day)
  year = year + floor((month - 1) / 12)
  month = (month - 1) % 12 + 1
  if month <= 2 then year = year - 1 end
  local era = floor(year / 400)
  local of_era = year - era * 400
  local of_year = floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + floor(of_era / 4) - floor(of_era / 100) + of_year - 719468
end

local function lib_time(t)
  if t == nil then return os_time() end
  if type(t) ~= "table" then bad_argument(1, "time", "table", t) end
  local function field(name, default)
    local value = tonumber(t[name]) or default
    if not value then error(s_format("field '%s' missing in date table", name), 3) end
    return floor(value)
  end
  local day = days(field("year"), field("month"), field("day"))
  return day * 86400 + field("hour", 12) * 3600 + field("min", 0) * 60 + field("sec", 0)
end

-- Always UTC: a worker has no time zone of its own.
local function lib_date(form, time)
  form = form == nil and "%c" or text_argument(form, 1, "date")
  if s_byte(form) ~= 33 then form = "!" .. form end
  if time ~= nil and not tonumber(time) then bad_argument(2, "date", "number", time) end
  return os_date(form, time or os_time())
end

-- base ----------------------------------------------------------------------------------------------------------------
local function lib_tostring(...)
  if select("#", ...) == 0 then error("bad argument #1 to 'tostring' (value expected)", 2) end
  return to_text((...))
end

local function lib_error(message, level)
  if type(message) == "number" then message = number_text(message) end
  return error(message, level) -- a tail call, so that level 1 is still the script's own line
end

local function lib_print(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = to_text((select(i, ...))) end
  P.print_line(t_concat(parts, "\t"))
end

local function lib_rawget(t, key)
  if type(t) ~= "table" then bad_argument(1, "rawget", "table", t) end
  return t[key]
end

local function lib_rawset(t, key, value)
  if type(t) ~= "table" then bad_argument(1, "rawset", "table", t) end
  t[key] = value
  return t
end

local assert, ipairs, tonumber_, unpack_, rawequal = assert, ipairs, tonumber, unpack, rawequal
local string_metatable = debug.getmetatable("")

-- Fresh globals: nothing a script changes here is seen by another call.
function P.fresh_globals()
  seeded, walks, noted = false, {}, {}
  local strings = {
    byte = lib_byte, char = s_char, find = lib_find, format = lib_format, gmatch = lib_gmatch, gsub = lib_gsub,
    len = lib_len, lower = lib_lower, match = lib_match, rep = lib_rep, reverse = lib_reverse, sub = lib_sub,
    upper = lib_upper,
  }
  string_metatable.__index = strings -- so that ("x"):upper() finds what string.upper is
  local globals = {
    _VERSION = "Lua 5.1",
    assert = assert, error = lib_error, ipairs = ipairs, next = lib_next, pairs = lib_pairs, pcall = P.script_pcall,
    print = lib_print, rawequal = rawequal, rawget = lib_rawget, rawset = lib_rawset, select = select,
    tonumber = tonumber_, tostring = lib_tostring, type = type, unpack = unpack_, xpcall = P.script_xpcall,
    require = P.new_require(),
    string = strings,
    table = {
      concat = lib_concat, getn = lib_getn, insert = lib_insert, maxn = table.maxn, remove = lib_remove, sort = lib_sort,
    },
    math = {
      abs = math.abs, acos = math.acos, asin = math.asin, atan = math.atan, atan2 = math.atan2, ceil = math.ceil,
      cos = math.cos, cosh = math.cosh, deg = math.deg, exp = math.exp, floor = math.floor, fmod = math.fmod,
      frexp = math.frexp, huge = math.huge, ldexp = math.ldexp, log = math.log, log10 = math.log10, max = math.max,
      min = math.min, mod = math.fmod, modf = math.modf, pi = math.pi, pow = math.pow, rad = math.rad,
      random = lib_random, randomseed = lib_randomseed, sin = math.sin, sinh = math.sinh, sqrt = math.sqrt,
      tan = math.tan, tanh = math.tanh,
    },
    os = { date = lib_date, time = lib_time },
  }
  globals._G = globals
  return globals
end

local names = P.fresh_globals()
function P.is_library(name) return names[name] ~= nil end
