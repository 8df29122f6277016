-- Lua values to JSON text: keys sorted, untouched parts exactly as they came, problems with the path they are at.
local P = ...
local buffer = require("string.buffer")
local type, next, floor, sort, format, byte, find = type, next, math.floor, table.sort, string.format, string.byte, string.find
local gsub, match, sub = string.gsub, string.match, string.sub

local out = buffer.new()
local put = out.put
local path, tables = {}, {} -- keys and tables from the root to where we are
local depth, deepest, longest, visits = 0, 200, 0, 0
local by_path = true

local function path_text()
  local parts = {}
  for i = 1, depth do
    local key = path[i]
    if type(key) == "number" then
      parts[i] = format("[%d]", key - 1)
    elseif type(key) == "string" and match(key, "^[%a_][%w_-]*$") then
      parts[i] = i > 1 and "." .. key or key
    else
      parts[i] = format("[%q]", tostring(key))
    end
  end
  return table.concat(parts)
end

local function fail(problem) error({ reply = true, path = path_text(), problem = problem }, 0) end

-- How a value is called in an error message: no addresses, no long texts.
local function named(value)
  if type(value) == "string" then
    if #value > 40 then value = sub(value, 1, 37) .. "..." end
    return format("%q", value)
  elseif type(value) == "number" then
    return P.number_text(value)
  elseif type(value) == "boolean" or value == nil then
    return tostring(value)
  end
  return "a " .. type(value)
end

local function is_utf8(s)
  local i, n = 1, #s
  while i <= n do
    local c = byte(s, i)
    if c < 0x80 then
      i = i + 1
    else
      local a, b, d = byte(s, i + 1, i + 3)
      local function tail(x) return x and x >= 0x80 and x < 0xC0 end
      if c >= 0xC2 and c < 0xE0 and tail(a) then
        i = i + 2
      elseif c >= 0xE0 and c < 0xF0 and tail(a) and tail(b)
        and not (c == 0xE0 and a < 0xA0) and not (c == 0xED and a >= 0xA0) then
        i = i + 3
      elseif c >= 0xF0 and c < 0xF5 and tail(a) and tail(b) and tail(d)
        and not (c == 0xF0 and a < 0x90) and not (c == 0xF4 and a >= 0x90) then
        i = i + 4
      else
        return false
      end
    end
  end
  return true
end

local SHORT = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f" }
local function escape(c) return SHORT[c] or format("\\u%04x", byte(c)) end

-- Strings already written once, in quotes. Pure text, so it may outlive a call; bounded.
local quoted, quoted_count = {}, 0

local function quote(s)
  if find(s, "[\128-\255]") and not is_utf8(s) then fail("text that is not valid UTF-8: " .. format("%q", gsub(sub(s, 1, 40), "[\128-\255]", "?"))) end
  local text = '"' .. (find(s, '[%c"\\]') and gsub(s, '[%z\1-\31"\\]', escape) or s) .. '"'
  if #s <= 64 then
    if quoted_count >= 4096 then quoted, quoted_count = {}, 0 end
    quoted[s], quoted_count = text, quoted_count + 1
  end
  return text
end

local function put_string(s) put(out, quoted[s] or quote(s)) end

local function put_number(n, origin, key)
  if origin then
    local text = origin.texts and origin.texts[key]
    if text and origin.values[key] == n then put(out, text) return end
  end
  local text = P.odd_text(n)
  if text then put(out, text) return end
  if n ~= n or n == 1 / 0 or n == -1 / 0 then fail("a number must be finite, got " .. P.number_text(n)) end
  put(out, P.number_json(n))
end

local function too_deep()
  for i = 1, depth do
    for j = i + 1, depth do
      if tables[i] == tables[j] then
        depth = j - 1
        local inner = path_text()
        depth = i - 1
        local outer = path_text()
        error({ reply = true, path = inner, problem = "a table that contains itself (it is the one at "
          .. (outer == "" and "the top" or outer) .. ")" }, 0)
      end
    end
  end
  error({ limit = "depth" }, 0)
end

local put_table

local function put_value(value, origin, key)
  local kind = type(value)
  if kind == "string" then
    put_string(value)
  elseif kind == "number" then
    put_number(value, origin, key)
  elseif kind == "boolean" then
    put(out, value and "true" or "false")
  elseif kind == "table" then
    put_table(value)
  elseif kind == "nil" then
    put(out, "null")
  else
    fail("a " .. kind .. " cannot be part of a reply")
  end
end

-- The kind an empty table has here: its own origin's, or that of an empty one at the same path of an input.
local function empty_kind(t)
  local origin = P.origin_of(t)
  if origin then return origin.kind end
  return by_path and P.kind_at(path, depth) or nil
end

local function put_array(t, n, origin)
  put(out, "[")
  depth = depth + 1
  tables[depth] = t
  for i = 1, n do
    if i > 1 then put(out, ",") end
    path[depth] = i
    local value = t[i]
    if type(value) == "table" and next(value) == nil and not P.lazy_fields(value) then
      local known = P.origin_of(value)
      if known and known.nulls then
        put_table(value)
      else
        put(out, empty_kind(value) == "array" and "[]" or "{}")
      end
    else
      put_value(value, origin, i)
    end
  end
  depth = depth - 1
  put(out, "]")
end

local function put_object(t, keys, n, origin)
  if n > 1 then sort(keys) end
  put(out, "{")
  depth = depth + 1
  tables[depth] = t
  local first = true
  local lazy = P.lazy_fields(t)
  for i = 1, n do
    local key = keys[i]
    path[depth] = key
    local value = lazy and lazy[key]
    if value then
      if not first then put(out, ",") end
      first = false
      put_string(key)
      put(out, ":", value.text())
    else
      value = t[key]
      local skip = false
      local fresh_kind
      if type(value) == "table" and next(value) == nil and not P.lazy_fields(value) then
        local known = P.origin_of(value)
        if not (known and known.nulls) then
          fresh_kind = empty_kind(value)
          skip = fresh_kind == nil
        end
      end
      if not skip then
        if not first then put(out, ",") end
        first = false
        put_string(key)
        put(out, ":")
        if fresh_kind then
          put(out, fresh_kind == "array" and "[]" or "{}")
        else
          put_value(value, origin, key)
        end
      end
    end
  end
  depth = depth - 1
  put(out, "}")
end

function put_table(t)
  if depth >= deepest then too_deep() end
  local origin = P.origin_of(t)
  local keys, n = {}, 0
  local count, largest = 0, 0
  for key in next, t do
    local kind = type(key)
    if kind == "string" then
      n = n + 1
      keys[n] = key
    elseif kind == "number" then
      if key ~= floor(key) or key < 1 then
        fail("the key " .. named(key) .. " is neither text nor a list index")
      end
      count = count + 1
      if key > largest then largest = key end
    else
      fail("keys must be text, got " .. named(key))
    end
  end
  visits = visits + n + count
  if #out + visits > longest then error({ limit = "output" }, 0) end
  local lazy = P.lazy_fields(t)
  if lazy then for key in next, lazy do n = n + 1 keys[n] = key end end
  local nulls = origin and origin.nulls
  if count > 0 or (origin and origin.kind == "array" and n == 0) then
    if n > 0 then
      sort(keys)
      fail(format("a table with both list indices and fields (such as %s)", named(keys[1])))
    end
    if nulls and origin.length > largest and nulls[origin.length] then largest = origin.length end
    if count < largest then
      for i = 1, largest do
        if t[i] == nil and not (nulls and nulls[i]) then
          fail(format("a list with a hole: element %d of %s is nil", i, P.number_text(largest)))
        end
      end
    end
    return put_array(t, largest, origin)
  end
  if nulls then
    for key in next, nulls do
      if t[key] == nil then n = n + 1 keys[n] = key end
    end
  end
  return put_object(t, keys, n, origin)
end

function P.begin_encoding(depth_limit, output_limit)
  deepest, longest, visits = depth_limit, output_limit, 0
end

-- One returned value. An empty table at the very top cannot be dropped and is written as an object.
function P.encode(value, without_paths)
  out:reset()
  depth, by_path = 0, not without_paths
  put_value(value, nil, nil)
  if #out > longest then error({ limit = "output" }, 0) end
  return out:get()
end
P.value_name = named
