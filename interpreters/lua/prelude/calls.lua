-- Running a script: compile once, call with fresh globals, stop at the limits, and say where an error happened.
local P = ...
local ffi = require("ffi")
local type, error, pcall, xpcall, select, load, next = type, error, pcall, xpcall, select, load, next
local sethook, getinfo, setfenv, match, sub, concat = debug.sethook, debug.getinfo, setfenv, string.match, string.sub, table.concat
local collectgarbage, jit_off = collectgarbage, jit.off

ffi.cdef("typedef struct { long sec; long nsec; } interp_time; int clock_gettime(int, interp_time *);")
local clock_value = ffi.new("interp_time[1]")
local function now()
  ffi.C.clock_gettime(1, clock_value)
  return tonumber(clock_value[0].sec) + tonumber(clock_value[0].nsec) * 1e-9
end

local STOP = "the call was stopped" -- the error that travels once a limit is passed; scripts cannot keep it
local STEP = 10000 -- instructions between two looks at the clock
local tripped, deadline = nil, 0

local function on_count()
  if not tripped and now() > deadline then tripped = "time" end
  if tripped then error(STOP, 0) end
end

-- pcall and xpcall for scripts: they catch errors, but neither the clock nor the memory limit.
local function caught(ok, ...)
  if ok then return true, ... end
  if ... == "not enough memory" then tripped = "memory" end
  if tripped then error(STOP, 0) end
  return false, ...
end

function P.script_pcall(f, ...) return caught(pcall(f, ...)) end

function P.script_xpcall(f, handler, ...)
  return caught(xpcall(f, function(e)
    if tripped or e == "not enough memory" then return e end
    return handler(e)
  end, ...))
end

-- print -----------------------------------------------------------------------------------------------------------
local printed, printed_size, printed_limit = {}, 0, 0

function P.print_line(line)
  if printed_size < 0 then return end
  local room = printed_limit - printed_size
  if #line + 1 > room then
    printed[#printed + 1] = sub(line, 1, room) .. "\n... (print stops here: the limit is " .. printed_limit .. " bytes)"
    printed_size = -1
    return
  end
  printed[#printed + 1] = line
  printed_size = printed_size + #line + 1
end

local function all_printed()
  if #printed == 0 then return "" end
  local text = concat(printed, "\n") .. "\n"
  printed = {}
  return text
end

-- Errors ----------------------------------------------------------------------------------------------------------
local globals, main -- of the running call

local function function_name(info)
  if info.func == main then return "main chunk" end
  for key, value in next, globals do
    if value == info.func and type(key) == "string" then return key end
  end
  return info.name or ("function at line " .. info.linedefined)
end

local function describe(e)
  local kind = type(e)
  if kind == "string" then return e end
  if kind == "number" then return P.number_text(e) end
  if kind == "table" then
    local ok, text = pcall(P.encode, e, true)
    return "error object " .. (ok and text or "(a table)")
  end
  if e == nil then return "nil (error was called without a message)" end
  return kind == "boolean" and "error object " .. tostring(e) or "error object (a " .. kind .. ")"
end

-- Called where the error happens, with the stack still there.
local function on_error(e)
  local frames, line, in_function, lines = {}, nil, nil, 0
  local level = 2
  while level < 220 do
    local info = getinfo(level, "Slnf")
    if not info then break end
    if info.short_src == "script" then
      local name = function_name(info)
      if not line then line, in_function = info.currentline, name end
      if lines < 10 then
        lines = lines + 1
        frames[lines] = info.currentline .. " " .. name
      end
    end
    level = level + 1
  end
  local message = describe(e)
  local at, rest = match(message, "^script:(%d+): (.*)$")
  if at then line, message = tonumber(at), rest end
  return { failure = true, message = message, line = line, in_function = in_function, frames = concat(frames, "\n") }
end

-- Calls -----------------------------------------------------------------------------------------------------------
local chunks = {}
local cat = P.concatenation

-- `source` must compile by itself; `prepared` is the same as a function body with our `..`, `enclosed` without, for the
-- rare text that only just fits the compiler's limits.
function P.compile(id, source, prepared, enclosed)
  local alone, problem = load(source, "=script", "t", {})
  if not alone then return false, problem end
  local outer = load(prepared, "=script", "t", {})
  if not outer then
    outer, problem = load(enclosed, "=script", "t", {})
    if not outer then return false, problem end
  end
  jit_off(outer, true)
  chunks[id] = outer(cat)
  return true, ""
end

function P.forget(id) chunks[id] = nil end

-- The chunk of a script run with fresh globals; answers them.
local function load_globals(id)
  globals = P.fresh_globals()
  main = chunks[id]
  setfenv(main, globals)
  main()
  return globals
end

local function begin(seconds, printed_bytes)
  tripped, deadline = nil, now() + seconds
  printed_limit, printed_size = printed_bytes, 0
  if #printed > 0 then printed = {} end
end

-- What the host is told of a failure: stage, kind, message or path and problem, line, function, frames.
local function failure(stage, e)
  if tripped then e = type(e) == "table" and e or {} return false, all_printed(), "limit", tripped, "", e.line, e.in_function, e.frames end
  if type(e) ~= "table" then
    return false, all_printed(), e == "not enough memory" and "limit" or stage, e == "not enough memory" and "memory" or tostring(e)
  end
  if e.limit then return false, all_printed(), "limit", e.limit, stage end
  if e.input then return false, all_printed(), "input", e.problem, e.offset end
  if e.reply then return false, all_printed(), "reply", e.problem, e.path end
  if match(e.message, "stack overflow") then return false, all_printed(), "limit", "stack", "", e.line, e.in_function, e.frames end
  if e.message == "not enough memory" then return false, all_printed(), "limit", "memory", "", e.line, e.in_function, e.frames end
  return false, all_printed(), stage, e.message, "", e.line, e.in_function, e.frames
end

local function guarded(f, ...)
  sethook(on_count, "", STEP)
  return xpcall(f, on_error, ...)
end

local function defined(all)
  local base, names = P.fresh_globals(), {}
  for key, value in next, all do
    if type(value) == "function" and type(key) == "string" and base[key] == nil then names[#names + 1] = key end
  end
  table.sort(names)
  return concat(names, "\n")
end

function P.functions(id, seconds, printed_bytes)
  begin(seconds, printed_bytes)
  local ok, all = guarded(load_globals, id)
  sethook()
  if not ok then return failure("load", all) end
  return true, all_printed(), defined(all)
end

local function pack(...) return select("#", ...), { ... } end

local function decode_all(...)
  local n = select("#", ...)
  local texts, values = { ... }, {}
  P.inputs = texts
  for i = 1, n do values[i] = P.decode(texts[i]) end
  return values, n
end

function P.call(id, name, seconds, depth, output, printed_bytes, ...)
  begin(seconds, printed_bytes)
  P.begin_decoding(depth)
  local ok, arguments, n = pcall(decode_all, ...)
  if not ok then return failure("arguments", arguments) end
  local all
  ok, all = guarded(load_globals, id)
  if not ok then
    sethook()
    return failure("load", all)
  end
  local f = all[name]
  if type(f) ~= "function" then
    sethook()
    return false, all_printed(), "missing", type(f), defined(all)
  end
  local count, results = pack(xpcall(f, on_error, unpack(arguments, 1, n)))
  sethook()
  if not results[1] then return failure("call", results[2]) end
  P.begin_encoding(depth, output)
  local texts = {}
  if count == 1 then texts[1] = "null" end
  for i = 2, count do
    local done, text = pcall(P.encode, results[i])
    if not done then return failure("reply", text) end
    texts[i - 1] = text
  end
  return true, all_printed(), unpack(texts)
end
