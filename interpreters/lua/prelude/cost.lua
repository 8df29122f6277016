-- What a call costs: the script's VM instructions, and a weight for what others do on its behalf. Counted so that the
-- same call costs the same in every process, be it a worker's first call or its thousandth. What remembers earlier calls
-- or walks a table in LuaJIT's own order therefore runs uncounted, between `pause` and `resume`, and has a fixed weight.
local P = ...
local ffi = require("ffi")
local error, floor, sethook = error, math.floor, debug.sethook
local STEP = 10000 -- instructions between two hooks
local BYTES = 8 -- read or written for one unit
local SHORT = 512 -- texts up to here are not worth the trouble
P.STEP = STEP
P.STOP = "the call was stopped" -- the error that travels once a limit is passed; scripts cannot keep it

-- Where LuaJIT counts down to the next hook. No function tells, so it is found by the number that the countdown began
-- with, which stands beside it.
local function countdown()
  local thread = coroutine.create(function() end)
  local state = ffi.cast("uintptr_t *", tonumber(tostring(thread):match("0x(%x+)"), 16))
  local fields = ffi.cast("int32_t *", state[2])
  local MARK, found = 1234567891, nil
  sethook(function() end, "", MARK)
  for i = 1, 400 do
    if fields[i] == MARK then found = i end
  end
  local counted = found and MARK - fields[found - 1]
  sethook()
  assert(counted and counted > 0 and counted < 1e6, "this LuaJIT does not show how many instructions it has run")
  return fields + (found - 1)
end
local left = countdown()

local steps, charged, most = 0, 0, 0
local held_steps, held_left
local tripped

function P.begin_counting(most_cost) steps, charged, most, tripped = 0, 0, most_cost, false end

-- Instructions since the hook was set, and weights.
local function cost() return steps * STEP + (STEP - left[0]) + charged end
P.cost = cost

function P.is_too_costly() return tripped or cost() > most end

-- For the hook: another step is done. Answers whether that was too much.
function P.count_step()
  steps = steps + 1
  if steps * STEP + charged > most then tripped = true end
  return tripped
end

-- Not worth stopping for: the next step or the end of the call looks.
function P.add_weight(weight) charged = charged + weight end

function P.pause() held_steps, held_left = steps, left[0] end

local function charge(weight)
  charged = charged + weight
  if steps * STEP + charged > most then
    tripped = true
    error(P.STOP, 0)
  end
end
P.charge = charge

function P.resume(weight)
  steps, left[0] = held_steps, held_left
  charge(weight)
end

-- A text of so many bytes was read or written on the script's behalf.
function P.charge_bytes(bytes)
  if bytes > SHORT then charge(floor(bytes / BYTES)) end
end
function P.weight_of(bytes) return floor(bytes / BYTES) end
