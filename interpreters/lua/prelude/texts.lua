-- Strings as JSON text, and values as words in messages.
local P = ...
local byte, find, format, gsub, sub, tostring, type = string.byte, string.find, string.format, string.gsub, string.sub, tostring, type

local SHORT = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\b"] = "\\b", ["\f"] = "\\f" }
local function escape(c) return SHORT[c] or format("\\u%04x", byte(c)) end

local function continues(c) return c ~= nil and c >= 0x80 and c < 0xC0 end

local function is_utf8(s)
  local i = find(s, "[\128-\255]")
  while i do
    local c, a, b, d = byte(s, i, i + 3)
    if c >= 0xC2 and c < 0xE0 and continues(a) then
      i = i + 2
    elseif c >= 0xE0 and c < 0xF0 and continues(a) and continues(b)
      and not (c == 0xE0 and a < 0xA0) and not (c == 0xED and a >= 0xA0) then
      i = i + 3
    elseif c >= 0xF0 and c < 0xF5 and continues(a) and continues(b) and continues(d)
      and not (c == 0xF0 and a < 0x90) and not (c == 0xF4 and a >= 0x90) then
      i = i + 4
    else
      return false
    end
    i = find(s, "[\128-\255]", i)
  end
  return true
end

-- A string in quotes; nothing when it is not valid UTF-8 and so cannot stand in JSON.
function P.quoted(s)
  if find(s, '[%z\1-\31"\\\128-\255]') then
    if not is_utf8(s) then return nil end
    s = gsub(s, '[%z\1-\31"\\]', escape)
  end
  return '"' .. s .. '"'
end

-- How a value is called in a message: no addresses, no long texts, no broken characters.
function P.value_name(value)
  local kind = type(value)
  if kind == "string" then
    if #value > 40 then value = sub(value, 1, 37) .. "..." end
    return (gsub(P.quoted(value) or P.quoted(gsub(value, "[\128-\255]", "?")), "[\128-\255]", "?"))
  elseif kind == "number" then
    return P.number_text(value)
  elseif kind == "boolean" or kind == "nil" then
    return tostring(value)
  end
  return "a " .. kind
end

-- Refuses an argument of a library function, at the line of the script that called the function.
function P.bad_argument(n, name, wanted, value)
  local got = value == nil and "nil" or type(value)
  error(format("bad argument #%d to '%s' (%s expected, got %s)", n, name, wanted, got), 3)
end

-- Errors of the prelude itself are tables that no script can forge: `limit` names a limit, `reply` a problem at a path.
local own = setmetatable({}, { __mode = "k" })

function P.raise(what)
  own[what] = true
  error(what, 0)
end

function P.is_own(e) return own[e] == true end

-- What LuaJIT raises when an allocation fails. A script may raise the same words and has then used no memory at all, so
-- `error` and `assert` note when they do (library.lua), and the next who catches them knows.
P.OUT_OF_MEMORY = "not enough memory"
local only_words = false
function P.note_words(message)
  if message == P.OUT_OF_MEMORY then only_words = true end
end
function P.forget_words() only_words = false end

function P.is_out_of_memory(e)
  if e ~= P.OUT_OF_MEMORY then return false end
  local genuine = not only_words
  only_words = false
  return genuine
end

-- An error as scripts may hold it: text or a value of their own, never a table of ours or an object of the host.
local PRELUDE_LINE = "^interp/[%w_]+%.lua:%d+: "
function P.for_scripts(e)
  local kind = type(e)
  if kind == "string" then return find(e, PRELUDE_LINE) and gsub(e, PRELUDE_LINE, "") or e end
  if kind == "table" and own[e] then
    if e.limit then return "the value is beyond the " .. e.limit .. " limit" end
    return (e.path == "" and "" or e.path .. ": ") .. e.problem
  end
  if kind == "userdata" or kind == "cdata" or kind == "thread" then return "an error of the host" end
  return e
end
