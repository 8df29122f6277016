-- Running a script: compile once, call with fresh globals, and stop at the limits.
local P = ...
local ffi = require("ffi")
local type, error, pcall, xpcall, select, load, next, unpack = type, error, pcall, xpcall, select, load, next, unpack
local sethook, setfenv, concat, sort = debug.sethook, setfenv, table.concat, table.sort
local find, sub, getinfo = string.find, string.sub, debug.getinfo

-- Limits --------------------------------------------------------------------------------------------------------------
ffi.cdef("typedef struct { long sec; long nsec; } interp_time; int clock_gettime(int, interp_time *);")
local MONOTONIC = 1
local clock_value = ffi.new("interp_time[1]")
local function now()
  ffi.C.clock_gettime(MONOTONIC, clock_value)
  return tonumber(clock_value[0].sec) + tonumber(clock_value[0].nsec) * 1e-9
end

local STOP, STEP = P.STOP, P.STEP
local count_step = P.count_step
-- Between calls the collector waits for ten times the live memory, so it hardly ever runs; a call that takes long
-- enough to be looked at gets a collector that keeps up.
local RELAXED, EAGER = 1000, 150
local tripped, seconds, deadline, memory, watermark
collectgarbage("setpause", RELAXED)

local function on_count()
  if not deadline then -- a call shorter than one step asks neither clock nor collector
    deadline, watermark = now() + seconds, collectgarbage("count") + memory / 4
    collectgarbage("setpause", EAGER)
  end
  if now() > deadline then tripped = "time" end
  if count_step() then tripped = "cost" end
  if tripped then error(STOP, 0) end
  if collectgarbage("count") > watermark then
    collectgarbage()
    watermark = collectgarbage("count") + memory / 4
  end
end

-- Coverage: the lines that ran, noted only for an engine that asks.
local covered

local function on_event(event, line)
  if event ~= "line" then return on_count() end
  if getinfo(2, "S").source == "=script" then covered[line] = true end
end

function P.cover() covered = {} end

function P.covered()
  local lines = {}
  for line in next, covered do lines[#lines + 1] = line end
  covered = {}
  return concat(lines, " ")
end

local function watch()
  if covered then sethook(on_event, "l", STEP) else sethook(on_count, "", STEP) end
end

local spent -- what the call has cost, once it is over
local function relax()
  if not spent then spent = P.cost() end
  sethook()
  if deadline then collectgarbage("setpause", RELAXED) end
end

-- Callbacks of C functions (sort, gsub) recurse on the C stack, which no Lua limit watches.
local MOST_NESTED = 100
local nesting = 0

local function back_at(level, ...)
  nesting = level
  return ...
end

function P.callback(f)
  local level = nesting
  if level >= MOST_NESTED then error("stack overflow: callbacks of sort and gsub are nested too deeply", 3) end
  return function(...)
    nesting = level + 1
    return back_at(level, f(...))
  end
end

-- pcall and xpcall for scripts: they catch errors, but neither the clock nor the memory limit.
local function caught(level, ok, ...)
  nesting = level
  if ok then return true, ... end
  local e, more = ...
  if P.is_too_costly() then tripped = tripped or "cost" end
  if P.is_out_of_memory(e) then tripped = "memory" end
  if tripped then error(STOP, 0) end
  return false, P.for_scripts(e), more
end

function P.script_pcall(f, ...) return caught(nesting, pcall(f, ...)) end

function P.script_xpcall(f, handler, ...)
  return caught(nesting, xpcall(f, function(e)
    if tripped or P.is_too_costly() then return e end
    if P.is_out_of_memory(e) then
      tripped = "memory"
      return e
    end
    return handler(P.for_scripts(e))
  end, ...))
end

-- print ---------------------------------------------------------------------------------------------------------------
local printed, printed_bytes, printed_most = {}, 0, 0

function P.print_line(line)
  local room = printed_most - printed_bytes
  if room < 0 then return end
  if #line + 1 > room then
    line = sub(line, 1, room) .. "\n... (print stops here: at most " .. printed_most .. " bytes are kept)"
  end
  printed[#printed + 1] = line
  printed_bytes = printed_bytes + #line + 1
end

local function all_printed()
  if printed_bytes == 0 then return "" end
  local text = concat(printed, "\n") .. "\n"
  printed, printed_bytes = {}, 0
  return text
end

-- Scripts -------------------------------------------------------------------------------------------------------------
local chunks, sources = {}, {}
local rooms, is_measured = {}, {} -- for how many globals a script gets room; whether it has been seen to need so many
local globals, main, source, entry -- of the running call; `entry` once the function is called

-- 64-bit and imaginary numbers are objects of the ffi. The tokenizer refuses them with their line (concatenation.py);
-- this asks the compiler itself, whatever a tokenizer may overlook.
local constant_of = require("jit.util").funck
local function has_foreign_constant(fn)
  for n = -1, -1e9, -1 do
    local constant = constant_of(fn, n)
    if constant == nil then return false end
    local kind = type(constant)
    if kind == "cdata" or kind == "proto" and has_foreign_constant(constant) then return true end
  end
end

-- `text` must compile by itself; `prepared` is the same as a function body with our `..`, `enclosed` without, for the
-- rare text that only just fits the compiler's limits.
function P.compile(id, text, prepared, enclosed)
  local alone, problem = load(text, "=script", "t", {})
  if not alone then return false, problem end
  if has_foreign_constant(alone) then return false, "script:1: a number with a suffix that only LuaJIT reads" end
  local outer = load(prepared, "=script", "t", {}) or load(enclosed, "=script", "t", {})
  if not outer then return false, "script:1: the script is too large for the compiler" end
  rooms[id] = 32
  chunks[id], sources[id] = outer(P.concatenation, P.note_store, P.note_key), text
  return true, ""
end

function P.forget(id) chunks[id], sources[id], rooms[id], is_measured[id] = nil, nil, nil, nil end

local function run_chunk(id)
  globals, main, source, entry = P.fresh_globals(rooms[id]), chunks[id], sources[id], nil
  setfenv(main, globals)
  main()
end

local function note_room(id)
  local room = 0
  for _ in next, globals do room = room + 1 end
  rooms[id], is_measured[id] = room, true
end

-- Names of the functions that the script made, one a line.
local function defined()
  local names = {}
  for key, value in next, globals do
    if type(key) == "string" and type(value) == "function" and not P.is_library(key) then names[#names + 1] = key end
  end
  sort(names)
  return concat(names, "\n")
end

-- Failures: (false, printed, kind, words, detail, line, function, frames). -----------------------------------------------
local function on_error(e)
  relax() -- the call is over; what is said of it costs nothing
  if P.is_own(e) then return e end
  if P.is_out_of_memory(e) then return { message = e, is_out_of_memory = true } end
  e = P.for_scripts(e)
  if type(e) == "string" and find(e, "stack overflow", 1, true) then
    local info = getinfo(2, "Sl") -- there is no stack left for finding out more
    return { message = e, line = info.short_src == "script" and info.currentline or nil }
  end
  return P.blame(e, globals, main, source, entry)
end

local function failure(stage, e)
  relax()
  local where = type(e) == "table" and e
    or { message = P.to_text(P.for_scripts(e)), is_out_of_memory = P.is_out_of_memory(e) }
  local limit = tripped or where.limit or (where.message == STOP and P.is_too_costly() and "cost" or nil)
  if not limit and where.message then
    if where.is_out_of_memory then limit = "memory" end
    if find(where.message, "stack overflow", 1, true) then limit = "stack" end
  end
  if limit then return false, all_printed(), "limit", limit, stage, where.line, where.in_function, where.frames end
  if where.reply then return false, all_printed(), "reply", where.problem, where.path end
  return false, all_printed(), stage, where.message, nil, where.line, where.in_function, where.frames
end

-- Calls ---------------------------------------------------------------------------------------------------------------
local function begin(most_cost, most_seconds, most_memory, most_printed)
  P.begin_counting(most_cost)
  spent = nil
  tripped, seconds, deadline, memory, nesting = nil, most_seconds, nil, most_memory / 1024, 0
  printed_most = most_printed
  P.forget_words()
  if printed_bytes > 0 then all_printed() end
end

function P.functions(id, most_cost, most_seconds, most_memory, most_printed)
  begin(most_cost, most_seconds, most_memory, most_printed)
  P.begin_decoding(0)
  watch()
  local ok, e = xpcall(run_chunk, on_error, id)
  if not ok then return failure("load", e) end
  relax()
  return true, all_printed(), spent, defined()
end

-- The results of a function as JSON texts.
local MOST_RESULTS = 16 -- no operation has more than two
local function reply(id, most_cost, most_depth, most_output, inputs, ok, ...)
  relax()
  if not is_measured[id] then note_room(id) end
  if not ok then return failure("call", (...)) end
  local texts, n = { ... }, select("#", ...)
  if n > MOST_RESULTS then
    return failure("call", { message = "returned " .. n .. " values; no operation has more than two" })
  end
  if n == 0 then texts[1], n = "null", 1 end
  for i = 1, n do
    local done, text = true, "null"
    local value = select(i, ...)
    if value ~= nil then done, text = pcall(P.encode, value, most_depth, most_output, inputs) end
    if not done then return failure("reply", text) end
    texts[i] = text
    spent = spent + P.weight_of(#text)
  end
  if spent > most_cost then
    tripped = "cost"
    return failure("call")
  end
  return true, all_printed(), spent, unpack(texts, 1, n)
end

-- Each argument comes as two texts: its JSON, and that of its metadata, which may wait (see decode.lua).
function P.call(id, name, most_cost, most_seconds, most_memory, most_depth, most_output, most_printed, ...)
  begin(most_cost, most_seconds, most_memory, most_printed)
  P.begin_decoding(most_depth)
  local inputs, values, n, bytes = {}, {}, 0, 0
  for i = 1, select("#", ...), 2 do
    local document, metadata = select(i, ...)
    n, bytes = n + 1, bytes + #document
    inputs[n] = document
    local ok, value = pcall(P.decode_object, document, metadata)
    if not ok then return failure("arguments", value) end
    values[n] = value
  end
  watch()
  P.add_weight(P.weight_of(bytes))
  local ok, e = xpcall(run_chunk, on_error, id)
  if not ok then return failure("load", e) end
  local f = globals[name]
  if P.is_library(name) then f = nil end
  if type(f) ~= "function" then
    relax()
    return false, all_printed(), "missing", type(f), defined()
  end
  entry = f
  return reply(id, most_cost, most_depth, most_output, inputs, xpcall(f, on_error, unpack(values, 1, n)))
end
