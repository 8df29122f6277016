-- Where an error happened: the author's own lines, and the path that was nil where the source line tells.
local P = ...
local getinfo, getlocal, getupvalue = debug.getinfo, debug.getlocal, debug.getupvalue
local concat, find, match, next, sub, tonumber, type = table.concat, string.find, string.match, next, string.sub, tonumber, type

local MOST_FRAMES, DEEPEST_LEVEL = 10, 220

-- A variable as the function at this level sees it.
local function variable(level, func, globals, name)
  local found, value = false, nil
  for slot = 1, 250 do
    local local_name, local_value = getlocal(level + 1, slot)
    if not local_name then break end
    if local_name == name then found, value = true, local_value end
  end
  if found then return value end
  for slot = 1, 60 do
    local upvalue_name, upvalue = getupvalue(func, slot)
    if not upvalue_name then break end
    if upvalue_name == name then return upvalue end
  end
  return globals[name]
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

-- The first path on a line that is nil where the message needs a value: `named` is its last name, if the message has one,
-- and `indexed` says that something is looked up in it.
local function nil_path(line, named, indexed, look_up)
  local i = 1
  while true do
    local start, stop, name = find(line, "([%a_][%w_]*)", i)
    if not start then return nil end
    i = stop + 1
    if not find(sub(line, start - 1, start - 1), "[%w_.:\"']") then
      local value, path, last = look_up(name), name, name
      local key, text, behind = accessor(line, i, look_up)
      while key ~= nil and type(value) == "table" do
        value, path, last, i = value[key], path .. text, key, behind
        key, text, behind = accessor(line, i, look_up)
      end
      if value == nil and (key ~= nil or not indexed) and (named == nil or last == named) then return path end
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
  if not find(message, "nil", 1, true) or not find(message, "attempt to ", 1, true) then return message end
  local named = match(message, "'([^']+)' %(a nil value%)$")
  local indexed = find(message, "attempt to index", 1, true)
  local path = nil_path(line_of(source, info.currentline), named, indexed, function(name)
    return variable(level + 3, info.func, globals, name)
  end)
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

-- To be called by the message handler, with the stack of the error still there.
function P.blame(e, globals, main, source)
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
  local at, rest = match(message, "^script:(%d+): (.*)$")
  if at then line, message = tonumber(at), rest end
  return { message = message, line = line, in_function = in_function, frames = concat(frames, "\n") }
end
