-- Where an error happened: the author's own lines, and the path that was nil where the source line tells.
local P = ...
local getinfo, getlocal, getupvalue = debug.getinfo, debug.getlocal, debug.getupvalue
local find, gmatch, gsub, match, rep, sub = string.find, string.gmatch, string.gsub, string.match, string.rep, string.sub
local concat, next, tonumber, type = table.concat, next, tonumber, type

local MOST_FRAMES, DEEPEST_LEVEL = 10, 220

-- The variables that the function at this level sees by name: locals, then upvalues, then globals.
local function variables(level, func, globals)
  local values, known = {}, {}
  for slot = 1, 60 do
    local name, value = getupvalue(func, slot)
    if not name then break end
    values[name], known[name] = value, true
  end
  for slot = 1, 250 do
    local name, value = getlocal(level + 1, slot)
    if not name then break end
    values[name], known[name] = value, true
  end
  return function(name)
    if known[name] then return values[name] end
    return globals[name]
  end
end

-- The accessor at i of a line: its key, how it reads in a path, and where it ends.
local function accessor(line, i, look_up)
  local name, stop = match(line, "^%s*%.%s*([%a_][%w_]*)()", i)
  if name then return name, "." .. name, stop end
  name, stop = match(line, "^%s*:%s*([%a_][%w_]*)()", i)
  if name then return name, ":" .. name, stop end
  local quote, key
  quote, key, stop = match(line, "^%s*%[%s*([\"'])(.-)%1%s*%]()", i)
  if quote then return key, "[" .. P.value_name(key) .. "]", stop end
  key, stop = match(line, "^%s*%[%s*(%d+)%s*%]()", i)
  if key then return tonumber(key), "[" .. key .. "]", stop end
  name, stop = match(line, "^%s*%[%s*([%a_][%w_]*)%s*%]()", i)
  if name then
    local value = look_up(name)
    if value ~= nil then return value, "[" .. P.value_name(value) .. "]", stop end
  end
end

local KEYWORDS = {}
for word in gmatch("and break do else elseif end false for function goto if in local nil not or repeat return then true "
  .. "until while", "%a+") do KEYWORDS[word] = true end

local function blank(text) return rep(" ", #text) end

-- What stands before or behind the operand that a message complains about.
local OPERANDS = {
  { "attempt to call", before = "^$", behind = "^%s*[({\"']" },
  { "attempt to concatenate", before = "%.%.%s*$", behind = "^%s*%.%." },
  { "attempt to perform arithmetic", before = "[-+*/%%^]%s*$", behind = "^%s*[-+*/%%^]" },
  { "attempt to compare", before = "[<>]=?%s*$", behind = "^%s*[<>]" },
  { "attempt to get length", before = "#%s*$", behind = "^$" },
}

-- The first path on a line that is nil where the message needs a value; `named` is its last name, if the message has one.
local function nil_path(line, message, look_up)
  local named = match(message, "'([^']+)' %(a nil value%)$")
  local operand
  for i = 1, #OPERANDS do
    if find(message, OPERANDS[i][1], 1, true) then operand = OPERANDS[i] end
  end
  if not operand and not find(message, "attempt to index", 1, true) then return nil end
  local names = gsub(gsub(gsub(line, "%b\"\"", blank), "%b''", blank), "%-%-.*", blank)
  local i = 1
  while true do
    local start, stop, name = find(names, "([%a_][%w_]*)", i)
    if not start then return nil end
    i = stop + 1
    if not KEYWORDS[name] and not find(sub(line, start - 1, start - 1), "[%w_.:]") then
      local value, path, last = look_up(name), name, name
      local key, text, behind = accessor(line, i, look_up)
      while key ~= nil and type(value) == "table" do
        value, path, last, i = value[key], path .. text, key, behind
        key, text, behind = accessor(line, i, look_up)
      end
      local complained
      if operand then
        complained = key == nil and (find(sub(line, 1, start - 1), operand.before) or find(sub(line, i), operand.behind))
      else
        complained = key ~= nil
      end
      if value == nil and complained and (named == nil or last == named) then return path, named end
    end
  end
end

local function line_of(source, number)
  local at = 1
  for _ = 2, number do
    at = find(source, "\n", at, true)
    if not at then return "" end
    at = at + 1
  end
  return sub(source, at, (find(source, "\n", at, true) or #source + 1) - 1)
end

local function function_name(info, globals, main)
  if info.func == main then return "main chunk" end
  for key, value in next, globals do
    if value == info.func and type(key) == "string" then return key end
  end
  return info.name or ("function at line " .. info.linedefined)
end

local function with_nil_path(message, level, info, globals, source)
  if not find(message, "nil", 1, true) then return message end
  local look_up = variables(level + 2, info.func, globals) -- two calls from where the level was counted, one of them pcall
  local path, named = nil_path(line_of(source, info.currentline), message, look_up)
  return path and path ~= named and message .. ": " .. path .. " is nil" or message
end

-- What an error value says. Tables are shown as JSON.
local function words(e)
  local kind = type(e)
  if kind == "string" then return e end
  if kind == "number" then return P.number_text(e) end
  if kind == "nil" then return "error was called without a message" end
  if kind == "table" then
    local ok, text = pcall(P.encode, e, 20, 2000)
    return "error object " .. (ok and text or "(a table)")
  end
  return "error object " .. (kind == "boolean" and tostring(e) or "(a " .. kind .. ")")
end

-- To be called by the message handler, with the stack of the error still there. `entry` is the function that was called:
-- behind a tail call its own frame is gone, and the line where it begins must do.
function P.blame(e, globals, main, source, entry)
  local frames, line, in_function = {}, nil, nil
  local message = words(e)
  for level = 2, DEEPEST_LEVEL do
    local info = getinfo(level, "Slnf")
    if not info then break end
    if info.short_src == "script" then
      local name = function_name(info, globals, main)
      if not line then
        line, in_function = info.currentline, name
        local ok, better = pcall(with_nil_path, message, level, info, globals, source)
        if ok then message = better end
      end
      if #frames < MOST_FRAMES then frames[#frames + 1] = info.currentline .. " " .. name end
    end
  end
  if not line and entry then
    local info = getinfo(entry, "S")
    if info.linedefined > 0 then line = info.linedefined end
  end
  local at, rest = match(message, "^script:(%d+): (.*)$")
  if at then line, message = tonumber(at), rest end
  return { message = message, line = line, in_function = in_function, frames = concat(frames, "\n") }
end
