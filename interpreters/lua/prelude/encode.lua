-- Lua values to JSON text: keys sorted, untouched parts exactly as they came, problems with the path they are at.
local P = ...
local concat, floor, format, match, min, next, sort, type =
  table.concat, math.floor, string.format, string.match, math.min, next, table.sort, type
local number_json, number_text, quoted_text, value_name = P.number_json, P.number_text, P.quoted, P.value_name
local decoded, kind_at = P.decoded, P.kind_at

local parts = {} -- the text so far, and what is left of an earlier one behind it
local visited, long_bytes = 0, 0 -- fields seen, written or not; bytes in long parts (short ones count by number)
local LOOK = 50000 -- fields between two looks at how long the text really is
local look_at, looked, written = 0, 0, 0 -- when to look next; parts seen and bytes in them at the last look
local path, tables = {}, {} -- keys and tables from the root to here
local depth, deepest, longest = 0, 0, 0
local origins, lazies, odd_numbers -- what decoding remembers
local scratch = {} -- a list of keys for every depth, used again and again
local inputs -- JSON texts that tell the kind of new empty tables, or nil

-- Texts written before. Pure, so they may outlive a call; bounded.
local REMEMBERED, LONGEST_REMEMBERED = 8192, 64
local quoted, first_key, later_key, numbers, remembered = {}, {}, {}, {}, 0

local function forget_texts() quoted, first_key, later_key, numbers, remembered = {}, {}, {}, {}, 0 end

local function path_text()
  local names = {}
  for i = 1, depth do
    local key = path[i]
    if type(key) == "number" then
      names[i] = format("[%d]", key - 1)
    elseif match(key, "^[%a_][%w_-]*$") then
      names[i] = i > 1 and "." .. key or key
    else
      names[i] = "[" .. value_name(key) .. "]"
    end
  end
  return concat(names)
end

local function fail(problem) P.raise({ reply = true, path = path_text(), problem = problem }) end
local function too_long() P.raise({ limit = "output" }) end

-- Adds up what was written since the last look: a reply far too long ends here, before it fills the memory.
local function look(count)
  for i = looked + 1, count do written = written + #parts[i] end
  if written > longest or visited + long_bytes > longest then too_long() end
  looked, look_at = count, min(longest, visited + long_bytes + LOOK)
end

local function too_deep()
  for i = 1, depth do
    for j = i + 1, depth do
      if tables[i] == tables[j] then
        depth = i - 1
        local outer = path_text()
        depth = j - 1
        fail("a table that contains itself (it is the one at " .. (outer == "" and "the top" or outer) .. ")")
      end
    end
  end
  P.raise({ limit = "depth" })
end

local function quote(s)
  local text = quoted_text(s) or fail("text that is not valid UTF-8: " .. value_name(s))
  if #s > LONGEST_REMEMBERED then
    long_bytes = long_bytes + #text
    if long_bytes > longest then too_long() end
    return text
  end
  if remembered >= REMEMBERED then forget_texts() end
  quoted[s], remembered = text, remembered + 1
  return text
end

local function key_text(key, is_first)
  local text = (is_first and "{" or ",") .. (quoted[key] or quote(key)) .. ":"
  if #key <= LONGEST_REMEMBERED then
    if is_first then first_key[key] = text else later_key[key] = text end
  end
  return text
end

local function number_part(n, origin, key)
  if origin then
    local text = origin.texts and origin.texts[key]
    if text and origin.values[key] == n then return text end
  end
  local text = odd_numbers[n] or numbers[n]
  if text then return text end
  if n - n ~= 0 then fail("a number must be finite, got " .. number_text(n)) end
  if remembered >= REMEMBERED then forget_texts() end
  text = number_json(n)
  numbers[n], remembered = text, remembered + 1
  return text
end

-- The text of a table without fields: by its origin, else by the same path of an input; nothing when neither knows, and
-- nothing but a second answer when it has nulls to write.
local function empty_part(t)
  local origin = origins[t]
  local kind
  if origin then
    if origin.nulls then return nil, true end
    kind = origin.kind
  elseif inputs then
    kind = kind_at(inputs, path, depth)
  end
  return kind and (kind == "array" and "[]" or "{}"), false
end

local put_table

-- Everything but strings and tables.
local function scalar_part(value, kind, origin, key)
  if kind == "number" then return number_part(value, origin, key) end
  if kind == "boolean" then return value and "true" or "false" end
  if kind == "nil" then return "null" end
  return fail("a " .. kind .. " cannot be part of a reply")
end

-- Functions that add to the text are given the number of its parts so far and answer the new one.
local function put_array(t, n, origin, count)
  if n == 0 then
    parts[count + 1] = "[]"
    return count + 1
  end
  local parts, known, at = parts, quoted, depth + 1
  depth, tables[at] = at, t
  for i = 1, n do
    local value = t[i]
    local kind = type(value)
    parts[count + 1] = i == 1 and "[" or ","
    count = count + 2
    local text = kind == "string" and known[value]
    if not text then
      path[at] = i
      if kind == "string" then
        text = quote(value)
      elseif kind ~= "table" then
        text = scalar_part(value, kind, origin, i)
      elseif next(value) == nil and not lazies[value] then
        local has_nulls
        text, has_nulls = empty_part(value)
        text = text or not has_nulls and "{}" -- an element cannot be dropped
      end
    end
    if text then
      parts[count] = text
    else
      count = put_table(value, count - 1)
    end
  end
  depth = at - 1
  parts[count + 1] = "]"
  return count + 1
end

-- Sorts the first n keys; the list may hold others behind them.
local function sort_keys(keys, n)
  if n > 12 then
    local own = {}
    for i = 1, n do own[i] = keys[i] end
    sort(own)
    return own
  end
  for i = 2, n do
    local key, j = keys[i], i - 1
    while j > 0 and key < keys[j] do
      keys[j + 1] = keys[j]
      j = j - 1
    end
    keys[j + 1] = key
  end
  return keys
end

local function put_object(t, keys, n, origin, count)
  if n > 1 then keys = sort_keys(keys, n) end
  local parts, known, at, waiting = parts, quoted, depth + 1, lazies[t]
  depth, tables[at] = at, t
  local is_first, names = true, first_key
  for i = 1, n do
    local key = keys[i]
    local text, dropped = waiting and waiting[key], false
    local value
    if text then
      long_bytes = long_bytes + #text
    else
      value = t[key]
      local kind = type(value)
      text = kind == "string" and known[value]
      if not text then
        path[at] = key
        if kind == "string" then
          text = quote(value)
        elseif kind ~= "table" then
          text = scalar_part(value, kind, origin, key)
        elseif next(value) == nil and not lazies[value] then
          local has_nulls
          text, has_nulls = empty_part(value)
          dropped = not text and not has_nulls
        end
      end
    end
    if not dropped then
      parts[count + 1] = names[key] or key_text(key, is_first)
      is_first, names = false, later_key
      if text then
        count = count + 2
        parts[count] = text
      else
        count = put_table(value, count + 1)
      end
    end
  end
  depth = at - 1
  parts[count + 1] = is_first and "{}" or "}"
  return count + 1
end

-- A list that was given with nulls may keep them; any other hole is a mistake.
local function list_length(t, filled, largest, origin)
  local nulls = origin and origin.nulls
  if nulls and origin.length > largest and nulls[origin.length] then largest = origin.length end
  if filled < largest then
    for i = 1, largest do
      if t[i] == nil and not (nulls and nulls[i]) then
        fail(format("a list with a hole: element %d of %s is nil", i, number_text(largest)))
      end
    end
  end
  return largest
end

function put_table(t, count)
  if depth >= deepest then too_deep() end
  local origin = origins[t]
  local keys, n, filled, largest = scratch[depth], 0, 0, 0
  if not keys then
    keys = {}
    scratch[depth] = keys
  end
  for key in next, t do
    local kind = type(key)
    if kind == "string" then
      n = n + 1
      keys[n] = key
    elseif key == filled + 1 then
      filled, largest = key, key > largest and key or largest
    elseif kind == "number" and key >= 1 and key == floor(key) then
      filled = filled + 1
      if key > largest then largest = key end
    else
      fail("a key must be text or a list index from 1 on, got " .. value_name(key))
    end
  end
  if n > 1000 then scratch[depth] = nil end -- too large to keep
  visited = visited + n + filled
  if visited + long_bytes > look_at then look(count) end
  if filled > 0 then
    if n > 0 then
      fail("a table with both list elements and fields (such as " .. value_name(sort_keys(keys, n)[1]) .. ")")
    end
    return put_array(t, list_length(t, filled, largest, origin), origin, count)
  end
  if origin and origin.nulls then
    if origin.kind == "array" and n == 0 then return put_array(t, list_length(t, 0, 0, origin), origin, count) end
    if origin.kind == "object" then
      for key in next, origin.nulls do
        if t[key] == nil then
          n = n + 1
          keys[n] = key
        end
      end
    end
  end
  local waiting = lazies[t]
  if waiting then
    for key in next, waiting do
      n = n + 1
      keys[n] = key
    end
  end
  return put_object(t, keys, n, origin, count)
end

-- One value. Input texts are given for what a script returns; an empty table at the very top is written as an object.
function P.encode(value, limit_depth, limit_output, input_texts)
  deepest, longest, inputs = limit_depth, limit_output, input_texts
  if #parts > 10000 then parts = {} end
  visited, long_bytes, depth, looked, written = 0, 0, 0, 0, 0
  look_at = longest < LOOK and longest or LOOK
  origins, lazies, odd_numbers = decoded()
  local text
  local kind = type(value)
  if kind == "string" then
    text = quote(value)
  elseif kind ~= "table" then
    text = scalar_part(value, kind)
  else
    if next(value) == nil and not lazies[value] then text = empty_part(value) end
    if not text then
      text = concat(parts, "", 1, put_table(value, 0))
    end
  end
  if #text > longest then too_long() end
  return text
end
