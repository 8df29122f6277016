-- JSON text to Lua tables, remembering what a table cannot hold: kinds of empty tables, nulls and odd number texts.
-- Written for the interpreter: plain searches and substrings are one instruction each, patterns cost ten times as much.
-- The host has validated every text, so only what tells values apart is looked at.
local P = ...
local byte, char, concat, find, match, sub = string.byte, string.char, table.concat, string.find, string.match, string.sub
local floor, huge, next, rawset, setmetatable, tonumber = math.floor, math.huge, next, rawset, debug.setmetatable, tonumber

local new_table = require("table.new") -- with room for a few fields: growing one by one costs more than the room

local EMPTY_OBJECT = { kind = "object" }
local EMPTY_ARRAY = { kind = "array" }

local text -- being read
local backslash -- the first one at or behind the position, as far as it was searched
local deepest
-- Of this call: table -> origin; double -> the text it came from, false when several; table -> fields still text.
local origins, odd_numbers, lazies
local waiting_metadata, waiting_list, waiting_text -- the values that stay text for now

function P.begin_decoding(depth)
  origins, odd_numbers, lazies, deepest = {}, nil, nil, depth
end

-- What the encoder asks by table or by number.
local NOTHING = {}
function P.decoded() return origins, lazies or NOTHING, odd_numbers or NOTHING end

local function record(t)
  local origin = origins[t]
  if origin == nil then
    origin = { nulls = {}, texts = {}, values = {}, length = 0 }
    origins[t] = origin
  end
  return origin
end

local function skip_blank(i)
  local c = byte(text, i)
  while c == 32 or c == 10 or c == 13 or c == 9 do
    i = i + 1
    c = byte(text, i)
  end
  return i, c
end

-- Strings -------------------------------------------------------------------------------------------------------------
local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function utf8_of(code)
  if code < 0x80 then return char(code) end
  local low = 0x80 + code % 64
  local rest = floor(code / 64)
  if code < 0x800 then return char(0xC0 + rest, low) end
  local middle = 0x80 + rest % 64
  rest = floor(rest / 64)
  if code < 0x10000 then return char(0xE0 + rest, middle, low) end
  return char(0xF0 + floor(rest / 64), 0x80 + rest % 64, middle, low)
end

-- A string with escapes, from behind its opening quote; answers it and the index behind the closing one.
local function read_escaped(i)
  local parts, n = {}, 0
  while true do
    local quote = find(text, '"', i, true)
    if backslash < i then backslash = find(text, "\\", i, true) or huge end
    if quote < backslash then
      n = n + 1
      parts[n] = sub(text, i, quote - 1)
      return concat(parts, "", 1, n), quote + 1
    end
    n = n + 1
    parts[n] = sub(text, i, backslash - 1)
    i = backslash + 2
    local escaped = sub(text, i - 1, i - 1)
    if escaped == "u" then
      local code = tonumber(sub(text, i, i + 3), 16)
      i = i + 4
      if code >= 0xD800 and code < 0xDC00 then -- the first half of a pair
        code = 0x10000 + (code - 0xD800) * 1024 + (tonumber(sub(text, i + 2, i + 5), 16) - 0xDC00)
        i = i + 6
      end
      escaped = utf8_of(code)
    end
    n = n + 1
    parts[n] = ESCAPES[escaped] or escaped
  end
end

-- Numbers -------------------------------------------------------------------------------------------------------------
local function note_moved(n, number)
  odd_numbers = odd_numbers or {}
  local known = odd_numbers[n]
  if known == nil then odd_numbers[n] = number elseif known ~= number then odd_numbers[n] = false end
end

-- A number that is not a short whole one. Its text is kept where printing the double would not give it back: with the
-- table it stands in, and, when it cannot be mistaken for a common number, by the double, for scripts that move it.
local function read_odd_number(i, t, key)
  local number, stop = match(text, "^([-+.%deE]+)()", i)
  local n = tonumber(number)
  if n > 0.001 and stop - i < 15 and find(number, "^%d+%.%d*[1-9]$") then return n, stop end -- such as 1.5: printed alike
  if n - n ~= 0 or P.number_json(n) ~= number then
    local origin = record(t)
    origin.texts[key], origin.values[key] = number, n
    if n ~= floor(n) or n >= 2 ^ 53 or n <= -2 ^ 53 then note_moved(n, number) end
  elseif n >= 2 ^ 53 or n <= -2 ^ 53 then
    note_moved(n, number)
  end
  return n, stop
end

-- Values --------------------------------------------------------------------------------------------------------------
local read_object, read_array
local ASLEEP -- the metatable of tables with fields that wait

-- The value at i, whose first byte is c and which is not a string; answers it and the index behind it.
local function read_value(i, c, depth, t, key)
  if c == 123 then return read_object(i + 1, depth + 1) end
  if c == 91 then return read_array(i + 1, depth + 1) end
  if c >= 49 and c <= 57 then
    local n, stop = c - 48, i + 1
    c = byte(text, stop)
    while c and c >= 48 and c <= 57 do
      n = n * 10 + (c - 48)
      stop = stop + 1
      c = byte(text, stop)
    end
    if c == 46 or c == 101 or c == 69 or stop - i > 15 then return read_odd_number(i, t, key) end
    return n, stop
  end
  if c == 116 then return true, i + 4 end
  if c == 102 then return false, i + 5 end
  if c == 110 then
    record(t).nulls[key] = true
    return nil, i + 4
  end
  return read_odd_number(i, t, key)
end

local function too_deep() P.raise({ limit = "depth" }) end

-- From behind the brace. `wait` names the field that may stay text: "metadata" in the object itself, then the ones below.
-- Two bytes are read at once where the first hardly ever surprises.
function read_object(i, depth, wait)
  if depth > deepest then too_deep() end
  local text, byte, find, sub = text, byte, find, sub
  local t = new_table(0, 4)
  local c, d = byte(text, i), nil
  if c ~= 34 then
    i, c = skip_blank(i)
    if c == 125 then
      origins[t] = EMPTY_OBJECT
      return t, i + 1
    end
  end
  while true do
    i = i + 1
    local key
    local quote = find(text, '"', i, true)
    if backslash < i then backslash = find(text, "\\", i, true) or huge end
    if quote < backslash then
      key = sub(text, i, quote - 1)
      i = quote + 1
    else
      key, i = read_escaped(i)
    end
    d, c = byte(text, i, i + 1)
    if d == 58 then
      i = i + 1
    else
      i = skip_blank(i) + 1
      c = byte(text, i)
    end
    if c <= 32 then i, c = skip_blank(i) end
    if wait and wait[key] then
      t[key], i = wait[key](i, c, depth, t, key)
    elseif c == 34 then
      i = i + 1
      quote = find(text, '"', i, true)
      if backslash < i then backslash = find(text, "\\", i, true) or huge end
      if quote < backslash then
        t[key] = sub(text, i, quote - 1)
        i = quote + 1
      else
        t[key], i = read_escaped(i)
      end
    elseif c == 123 then
      t[key], i = read_object(i + 1, depth + 1)
    else
      t[key], i = read_value(i, c, depth, t, key)
    end
    c, d = byte(text, i, i + 1)
    if c ~= 44 then
      if c ~= 125 then
        i, c = skip_blank(i)
        d = byte(text, i + 1)
      end
      if c == 125 then break end
    end
    i = i + 1
    if d ~= 34 then i = skip_blank(i) end
  end
  local origin = origins[t]
  if origin then origin.kind = "object" end
  if wait and lazies and lazies[t] then setmetatable(t, ASLEEP) end
  return t, i + 1
end

-- From behind the bracket.
function read_array(i, depth)
  if depth > deepest then too_deep() end
  local text, byte = text, byte
  local t, n = new_table(2, 0), 0
  local c, d = byte(text, i), nil
  if c <= 32 then i, c = skip_blank(i) end
  if c == 93 then
    origins[t] = EMPTY_ARRAY
    return t, i + 1
  end
  while true do
    n = n + 1
    if c == 34 then
      i = i + 1
      local quote = find(text, '"', i, true)
      if backslash < i then backslash = find(text, "\\", i, true) or huge end
      if quote < backslash then
        t[n] = sub(text, i, quote - 1)
        i = quote + 1
      else
        t[n], i = read_escaped(i)
      end
    else
      t[n], i = read_value(i, c, depth, t, n)
    end
    c, d = byte(text, i, i + 1)
    if c <= 32 then
      i, c = skip_blank(i)
      d = byte(text, i + 1)
    end
    if c == 93 then break end
    i, c = i + 1, d
    if c <= 32 then i, c = skip_blank(i) end
  end
  local origin = origins[t]
  if origin then origin.kind, origin.length = "array", n end
  return t, i + 1
end

-- A whole document.
function P.decode(document)
  text, backslash = document, 0
  local i, c = skip_blank(1)
  if c == 34 then
    backslash = find(text, "\\", i, true) or huge
    local value = read_escaped(i + 1)
    return value
  end
  local value = read_value(i, c, 0, {}, 1)
  return value
end

-- Fields that wait ----------------------------------------------------------------------------------------------------
-- Half of a real object is its metadata, and few scripts read it. It stays text, known to the table it belongs to, until
-- something asks, and then its managedFields and last-applied annotation, which hardly a script reads, stay text.
local decode_metadata

local function wake(t, key)
  local waiting = lazies[t]
  local document = waiting[key]
  if document == nil then return nil end
  waiting[key] = nil
  if next(waiting) == nil then
    lazies[t] = nil
    setmetatable(t, nil)
  end
  local value = (key == "metadata" and decode_metadata or P.decode)(document)
  rawset(t, key, value)
  return value
end

ASLEEP = {
  __metatable = false,
  __index = function(t, key)
    if lazies[t] then return wake(t, key) end
  end,
  __newindex = function(t, key, value)
    local waiting = lazies[t]
    if waiting then waiting[key] = nil end
    rawset(t, key, value)
  end,
}

local function let_wait(t, key, document)
  lazies = lazies or {}
  local waiting = lazies[t]
  if not waiting then
    waiting = {}
    lazies[t] = waiting
  end
  waiting[key] = document
end

-- Reads the value unless it is exactly the text that the host said may wait (a field given twice is not).
local function read_unless(waiting, i, c, depth, t, key)
  if waiting and sub(text, i, i + #waiting - 1) == waiting then
    let_wait(t, key, waiting)
    return nil, i + #waiting
  end
  if lazies and lazies[t] then lazies[t][key] = nil end
  if c == 34 then
    if backslash < i then backslash = find(text, "\\", i, true) or huge end
    return read_escaped(i + 1)
  end
  return read_value(i, c, depth, t, key)
end

local IN_ANNOTATIONS = {
  ["kubectl.kubernetes.io/last-applied-configuration"] = function(i, c, depth, t, key)
    return read_unless(waiting_text, i, c, depth, t, key)
  end,
}
local IN_METADATA = {
  managedFields = function(i, c, depth, t, key) return read_unless(waiting_list, i, c, depth, t, key) end,
  annotations = function(i, c, depth, t, key)
    if c == 123 then return read_object(i + 1, depth + 1, IN_ANNOTATIONS) end
    return read_unless(nil, i, c, depth, t, key)
  end,
}
local IN_OBJECT = {
  metadata = function(i, c, depth, t, key) return read_unless(waiting_metadata, i, c, depth, t, key) end,
}

function decode_metadata(document)
  waiting_list, waiting_text = P.host.waiting_fields(document)
  text, backslash = document, 0
  local value = read_object(2, 2, IN_METADATA)
  return value
end

-- A Kubernetes object, of which `metadata` (its JSON text, or nil) may wait.
function P.decode_object(document, metadata)
  text, backslash, waiting_metadata = document, 0, metadata
  local i, c = skip_blank(1)
  if c ~= 123 then return P.decode(document) end
  local value = read_object(i + 1, 1, IN_OBJECT)
  return value
end

function P.wake_all(t)
  local waiting = lazies and lazies[t]
  while waiting and next(waiting) ~= nil do wake(t, next(waiting)) end
end
