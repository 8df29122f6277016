-- What scripts may call: base, table, math, os.time and os.date, made anew for every call.
local P = ...
local type, select, error, sort = type, select, error, table.sort
local number_text, to_text, text_argument, bad_argument = P.number_text, P.to_text, P.text_argument, P.bad_argument
local floor, s_byte, s_format = math.floor, string.byte, string.format
local new_table = require("table.new")
local t_concat, t_insert, t_remove = table.concat, table.insert, table.remove

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
  local text = t_concat(t, separator, i, j)
  P.charge_bytes(#text)
  return text
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
  P.note_words(message)
  return error(message, level) -- a tail call, so that level 1 is still the script's own line
end

local function lib_assert(value, message, ...)
  if value then return value, message, ... end
  if message == nil then message = "assertion failed!" end
  P.note_words(message)
  return error(message, 0)
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
  t[P.note_key(key)] = value
  return t
end

-- What never changes, and so needs no copy of its own.
local BASE = {
  _VERSION = "Lua 5.1",
  assert = lib_assert, error = lib_error, ipairs = ipairs, next = P.next, pairs = P.pairs, pcall = P.script_pcall,
  print = lib_print, rawequal = rawequal, rawget = lib_rawget, rawset = lib_rawset, select = select,
  tonumber = tonumber, tostring = lib_tostring, type = type, unpack = unpack, xpcall = P.script_xpcall,
}

-- Fresh globals: nothing a script changes here is seen by another call. `room` is for how many globals there will be.
function P.fresh_globals(room)
  seeded = false
  P.begin_walking()
  local globals = new_table(0, room)
  for name, value in next, BASE do globals[name] = value end
  globals._G, globals.require, globals.string = globals, P.new_require(), P.fresh_strings()
  globals.os = { date = lib_date, time = lib_time }
  globals.table = {
    concat = lib_concat, getn = lib_getn, insert = lib_insert, maxn = table.maxn, remove = lib_remove, sort = lib_sort,
  }
  globals.math = {
    abs = math.abs, acos = math.acos, asin = math.asin, atan = math.atan, atan2 = math.atan2, ceil = math.ceil,
    cos = math.cos, cosh = math.cosh, deg = math.deg, exp = math.exp, floor = math.floor, fmod = math.fmod,
    frexp = math.frexp, huge = math.huge, ldexp = math.ldexp, log = math.log, log10 = math.log10, max = math.max,
    min = math.min, mod = math.fmod, modf = math.modf, pi = math.pi, pow = math.pow, rad = math.rad,
    random = lib_random, randomseed = lib_randomseed, sin = math.sin, sinh = math.sinh, sqrt = math.sqrt,
    tan = math.tan, tanh = math.tanh,
  }
  return globals
end

local names = P.fresh_globals(32)
function P.is_library(name) return names[name] ~= nil end
