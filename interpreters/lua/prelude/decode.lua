-- JSON text to Lua tables, remembering what a table cannot hold: kinds of empty tables, nulls and odd number texts.
local P = ...
local ffi = require("ffi")
local cast, text_of = ffi.cast, ffi.string
local bytes_t = ffi.typeof("const uint8_t *")
local tonumber, char, match, setmetatable, rawset = tonumber, string.char, string.match, setmetatable, rawset
local find, sub, concat = string.find, string.sub, table.concat

local EMPTY_OBJECT = { kind = "object" }
local EMPTY_ARRAY = { kind = "array" }

-- Per call: table -> its origin record; double -> the text it came from (false when two texts share it);
-- table -> its fields that wait as JSON text.
local origins, odd_numbers, lazies
local has_odd = false
local deepest = 200

function P.begin_decoding(depth)
  origins, odd_numbers, lazies, has_odd, deepest = {}, {}, {}, false, depth
end

function P.origin_of(t) return origins[t] end
function P.lazy_fields(t) return lazies[t] end
function P.odd_text(n) return has_odd and odd_numbers[n] or nil end

local function record(t)
  local origin = origins[t]
  if origin == nil or origin == EMPTY_OBJECT or origin == EMPTY_ARRAY then
    origin = { kind = origin and origin.kind, nulls = {}, texts = {}, values = {}, length = 0 }
    origins[t] = origin
  end
  return origin
end

local function fail(i, problem) error({ input = true, offset = i, problem = problem }, 0) end

local function skip_blank(p, i)
  local c = p[i]
  while c == 32 or c == 10 or c == 13 or c == 9 do
    i = i + 1
    c = p[i]
  end
  return i
end

-- i is just behind the opening quote; answers the index of the closing quote.
local function string_end(p, i)
  while true do
    local c = p[i]
    if c == 34 then return i end
    if c == 92 then i = i + 1 c = p[i] end
    if c < 32 then fail(i, c == 0 and "the text ends inside a string" or "a string contains a control character") end
    i = i + 1
  end
end

local ESCAPES = { [34] = '"', [92] = "\\", [47] = "/", [98] = "\b", [102] = "\f", [110] = "\n", [114] = "\r", [116] = "\t" }

local function utf8_of(code)
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xC0 + (code - code % 64) / 64, 0x80 + code % 64) end
  local low = 0x80 + code % 64
  local rest = (code - code % 64) / 64
  local middle = 0x80 + rest % 64
  rest = (rest - rest % 64) / 64
  if code < 0x10000 then return char(0xE0 + rest, middle, low) end
  return char(0xF0 + (rest - rest % 64) / 64, 0x80 + rest % 64, middle, low)
end

local function hex(p, i)
  local text = text_of(p + i, 4)
  local digits = match(text, "^%x%x%x%x$")
  if not digits then fail(i, "\\u must be followed by four hexadecimal digits") end
  return tonumber(digits, 16)
end

-- The text between i and j, escapes resolved.
local function unescape(p, i, j)
  local parts, n = {}, 0
  local from = i
  while i < j do
    if p[i] ~= 92 then
      i = i + 1
    else
      if i > from then n = n + 1 parts[n] = text_of(p + from, i - from) end
      local c = p[i + 1]
      n = n + 1
      if c == 117 then
        local code = hex(p, i + 2)
        i = i + 6
        if code >= 0xD800 and code < 0xDC00 and p[i] == 92 and p[i + 1] == 117 then
          local low = hex(p, i + 2)
          if low >= 0xDC00 and low < 0xE000 then
            code = 0x10000 + (code - 0xD800) * 1024 + (low - 0xDC00)
            i = i + 6
          end
        end
        if code >= 0xD800 and code < 0xE000 then code = 0xFFFD end -- half a pair has no UTF-8 form
        parts[n] = utf8_of(code)
      else
        parts[n] = ESCAPES[c] or fail(i, "unknown escape in a string")
        i = i + 2
      end
      from = i
    end
  end
  if j > from then n = n + 1 parts[n] = text_of(p + from, j - from) end
  return concat(parts, "", 1, n)
end

-- i is just behind the opening quote; answers the string and the index behind the closing quote.
local function read_string(p, i)
  local j = i
  while true do
    local c = p[j]
    if c == 34 then return text_of(p + i, j - i), j + 1 end
    if c == 92 then break end
    if c < 32 then string_end(p, j) end
    j = j + 1
  end
  j = string_end(p, j)
  return unescape(p, i, j), j + 1
end

local function is_digit(c) return c >= 48 and c <= 57 end

-- A number that is not a plain short integer; its text is kept when printing the double would not give it back.
local function read_odd_number(p, i, t, k)
  local j = i
  if p[j] == 45 then j = j + 1 end
  if p[j] == 48 then
    j = j + 1
  elseif is_digit(p[j]) then
    while is_digit(p[j]) do j = j + 1 end
  else
    fail(i, "a value was expected")
  end
  if p[j] == 46 then
    j = j + 1
    if not is_digit(p[j]) then fail(j, "a digit was expected") end
    while is_digit(p[j]) do j = j + 1 end
  end
  if p[j] == 101 or p[j] == 69 then
    j = j + 1
    if p[j] == 43 or p[j] == 45 then j = j + 1 end
    if not is_digit(p[j]) then fail(j, "a digit was expected") end
    while is_digit(p[j]) do j = j + 1 end
  end
  local text = text_of(p + i, j - i)
  local n = tonumber(text)
  if n ~= n or n == 1 / 0 or n == -1 / 0 or P.number_json(n) ~= text then
    local origin = record(t)
    origin.texts[k], origin.values[k] = text, n
    -- Moved elsewhere the double itself must tell; small whole numbers are too common to stand for `2.0`.
    if n ~= math.floor(n) or n > 2 ^ 53 or n < -2 ^ 53 then
      local known = odd_numbers[n]
      if known == nil then odd_numbers[n] = text elseif known ~= text then odd_numbers[n] = false end
      has_odd = true
    end
  elseif n >= 2 ^ 53 or n <= -2 ^ 53 then
    local known = odd_numbers[n]
    if known == nil then odd_numbers[n] = text elseif known ~= text then odd_numbers[n] = false end
    has_odd = true
  end
  return n, j
end

local read_object, read_array

-- The value at i, which belongs to t[k]; answers it and the index behind it. null is nil and noted in t's origin.
local function read_value(p, i, depth, t, k)
  local c = p[i]
  if c == 34 then return read_string(p, i + 1) end
  if c == 123 then return read_object(p, i + 1, depth) end
  if c == 91 then return read_array(p, i + 1, depth) end
  if c >= 49 and c <= 57 then
    local n, j = c - 48, i + 1
    c = p[j]
    while c >= 48 and c <= 57 do
      n = n * 10 + (c - 48)
      j = j + 1
      c = p[j]
    end
    if c == 46 or c == 101 or c == 69 or j - i > 15 then return read_odd_number(p, i, t, k) end
    return n, j
  end
  if c == 116 and p[i + 1] == 114 and p[i + 2] == 117 and p[i + 3] == 101 then return true, i + 4 end
  if c == 102 and p[i + 1] == 97 and p[i + 2] == 108 and p[i + 3] == 115 and p[i + 4] == 101 then return false, i + 5 end
  if c == 110 and p[i + 1] == 117 and p[i + 2] == 108 and p[i + 3] == 108 then
    local origin = record(t)
    origin.nulls[k] = true
    return nil, i + 4
  end
  return read_odd_number(p, i, t, k)
end

-- i is just behind the brace.
function read_object(p, i, depth)
  if depth >= deepest then error({ limit = "depth" }, 0) end
  local t = {}
  i = skip_blank(p, i)
  if p[i] == 125 then
    origins[t] = EMPTY_OBJECT
    return t, i + 1
  end
  local c, key
  while true do
    if p[i] ~= 34 then fail(i, "a field name was expected") end
    key, i = read_string(p, i + 1)
    i = skip_blank(p, i)
    if p[i] ~= 58 then fail(i, "':' was expected") end
    i = skip_blank(p, i + 1)
    t[key], i = read_value(p, i, depth + 1, t, key)
    i = skip_blank(p, i)
    c = p[i]
    if c == 125 then break end
    if c ~= 44 then fail(i, "',' or '}' was expected") end
    i = skip_blank(p, i + 1)
  end
  local origin = origins[t]
  if origin then origin.kind = "object" end
  return t, i + 1
end

-- i is just behind the bracket.
function read_array(p, i, depth)
  if depth >= deepest then error({ limit = "depth" }, 0) end
  local t = {}
  i = skip_blank(p, i)
  if p[i] == 93 then
    origins[t] = EMPTY_ARRAY
    return t, i + 1
  end
  local n, c = 0, 0
  while true do
    n = n + 1
    t[n], i = read_value(p, i, depth + 1, t, n)
    i = skip_blank(p, i)
    c = p[i]
    if c == 93 then break end
    if c ~= 44 then fail(i, "',' or ']' was expected") end
    i = skip_blank(p, i + 1)
  end
  local origin = origins[t]
  if origin then origin.kind, origin.length = "array", n end
  return t, i + 1
end

-- A whole document.
function P.decode(text)
  local p = cast(bytes_t, text)
  local root = {} -- stands in as the owner of a bare null or number
  local value, i = read_value(p, skip_blank(p, 0), 0, root, 1)
  if skip_blank(p, i) ~= #text then fail(i, "the text goes on behind the value") end
  return value
end
