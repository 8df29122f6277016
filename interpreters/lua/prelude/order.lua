-- In which order `pairs` and `next` walk a table: 1..n, other numbers ascending, strings bytewise, false before true,
-- tables and functions as they were first used as keys. Behind them, in the order they came, the keys that the script
-- stored itself by `t[key] = value`.
local P = ...
local type, error, next, sort, rawget = type, error, next, table.sort, rawget
local bad_argument, wake_all = P.bad_argument, P.wake_all
local new_table = require("table.new")
local pause, resume = P.pause, P.resume
local WALK, STEP_OF_WALK = 50, 10 -- weights: putting the keys of a table in order, and one step of `next`
local RANK = { number = 1, string = 2, boolean = 3 }

local noted -- table -> the keys that the script stored itself, as they came (see insertion_order.py)
local arrivals, arrived -- table or function -> its number among the keys of this call
-- For `next`: table -> the key it began with; table -> { keys, count, position of each key }, from the second key on.
local firsts, walks

-- Forgets what an earlier call noted.
function P.begin_walking() noted, arrivals, arrived, firsts, walks = {}, {}, 0, {}, {} end

-- Gives a table or function that is used as a key its number.
local function note_key(key)
  local kind = type(key)
  if (kind == "table" or kind == "function") and not arrivals[key] then
    arrived = arrived + 1
    arrivals[key] = arrived
  end
  return key
end
P.note_key = note_key

-- Far more keys are stored than walked, so a note is one more element of a list; a key that was removed and came back
-- stands there twice.
function P.note_store(t, key)
  if type(key) ~= "string" then return note_key(key) end
  if type(t) == "table" and rawget(t, key) == nil then
    local stored = noted[t]
    if stored then stored[#stored + 1] = key else noted[t] = { key } end
  end
  return key
end

-- Every way to store is noted, so this is for what somebody may yet think of: no order is better than a chance one.
local function number_of(key)
  return arrivals[key] or error("a " .. type(key) .. " used as a key has no fixed order here; store it by t[key] = value", 0)
end

local function before(a, b)
  local x, y = type(a), type(b)
  local rank_a, rank_b = RANK[x] or 4, RANK[y] or 4
  if rank_a ~= rank_b then return rank_a < rank_b end
  if x == "string" or x == "number" then return a < b end
  if x == "boolean" then return b and not a end
  return number_of(a) < number_of(b)
end

-- The n keys with the noted ones at the end, each at its first place.
local function noted_last(t, keys, n, stored)
  local is_noted, last, noted_count = {}, {}, 0
  for i = 1, #stored do
    local key = stored[i]
    if not is_noted[key] and rawget(t, key) ~= nil then
      noted_count = noted_count + 1
      last[noted_count] = key
    end
    is_noted[key] = true
  end
  if noted_count == n then return last end
  local first, others = {}, 0
  for i = 1, n do
    local key = keys[i]
    if not is_noted[key] then
      others = others + 1
      first[others] = key
    end
  end
  sort(first, before)
  for i = 1, noted_count do first[others + i] = last[i] end
  return first
end

-- Sorts texts. Short lists are the rule, and for them calling the library costs more than sorting.
local function sort_texts(keys, n)
  if n > 12 then return sort(keys) end
  for i = 2, n do
    local key, j = keys[i], i - 1
    while j > 0 and key < keys[j] do
      keys[j + 1] = keys[j]
      j = j - 1
    end
    keys[j + 1] = key
  end
end

local function sorted_keys(t)
  local keys, n, strings, ordered = new_table(4, 0), 0, true, true
  for key in next, t do
    n = n + 1
    keys[n] = key
    if key ~= n then ordered = false end
    if type(key) ~= "string" then strings = false end
  end
  if not ordered and n > 1 then
    local stored = noted[t]
    if stored then
      keys = noted_last(t, keys, n, stored)
    elseif strings then
      sort_texts(keys, n)
    else
      sort(keys, before)
    end
  end
  return keys, n
end

local function none() end

-- The only pair of a table; the first in order if others have come since.
local function only(t, key)
  if key ~= nil then return nil end
  local value
  key, value = next(t)
  if key ~= nil and next(t, key) ~= nil then
    key = sorted_keys(t)[1]
    value = t[key]
  end
  return key, value
end

local function pairs_of_list(t, n)
  local i = 0
  return function()
    while i < n do
      i = i + 1
      local value = t[i]
      if value ~= nil then return i, value end
    end
  end, t, nil
end

local function pairs_in_order(t, keys)
  local i = 0
  return function()
    while true do
      i = i + 1
      local key = keys[i]
      if key == nil then return nil end
      local value = t[key]
      if value ~= nil then return key, value end
    end
  end, t, nil
end

-- How to walk a table with several keys whose first in LuaJIT's own order is this one.
local function walk_many(t, key)
  if key == 1 then
    local n = 0
    for index in next, t do
      n = n + 1
      if index ~= n then return pairs_in_order(t, (sorted_keys(t))) end
    end
    return pairs_of_list(t, n)
  end
  return pairs_in_order(t, (sorted_keys(t)))
end

-- Walks the keys that are there now. Most tables have one key or none, or are lists, and need no list of their keys.
function P.pairs(t)
  if type(t) ~= "table" then bad_argument(1, "pairs", "table", t) end
  wake_all(t)
  local key = next(t)
  if key == nil then return none, t, nil end
  if next(t, key) == nil then return only, t, nil end
  pause()
  local iterate = walk_many(t, key)
  resume(WALK)
  return iterate, t, nil
end

local function walk_of(t)
  local keys, n = sorted_keys(t)
  local positions = {}
  for i = 1, n do positions[keys[i]] = i end
  local walk = { keys = keys, n = n, positions = positions }
  walks[t] = walk
  return walk
end

-- The first key. Most who ask want to know whether there is any, so nothing else is put in order.
local function first_key(t)
  local first = next(t)
  if noted[t] then return sorted_keys(t)[1] end
  for key in next, t, first do
    if before(key, first) then first = key end
  end
  return first
end

local function next_pair(t, key)
  if key == nil then
    key = first_key(t)
    if key == nil then return nil end
    walks[t], firsts[t] = nil, key
    return key, t[key]
  end
  local walk = walks[t] or walk_of(t)
  local i = walk.positions[key]
  if not i then
    walk = walk_of(t)
    i = walk.positions[key] or firsts[t] == key and 0
    if not i then return error end
  end
  local keys = walk.keys
  for j = i + 1, walk.n do
    local k = keys[j]
    local value = t[k]
    if value ~= nil then return k, value end
  end
  return nil
end

function P.next(t, key)
  if type(t) ~= "table" then bad_argument(1, "next", "table", t) end
  wake_all(t)
  pause()
  local following, value = next_pair(t, key)
  resume(STEP_OF_WALK)
  if following == error then error("invalid key to 'next'", 2) end
  return following, value
end
