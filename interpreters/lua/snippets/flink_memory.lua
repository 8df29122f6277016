-- Flink's memory: its units, and the total process memory that follows from the smaller settings.
-- include: snippets/fields.lua
local kube = require("kube")

local MEBIBYTE = 1048576
local FLINK_UNITS = {
  [""] = 1, b = 1, bytes = 1,
  k = 1024, kb = 1024, kibibytes = 1024,
  m = MEBIBYTE, mb = MEBIBYTE, mebibytes = MEBIBYTE,
  g = 1024 * MEBIBYTE, gb = 1024 * MEBIBYTE, gibibytes = 1024 * MEBIBYTE,
  t = MEBIBYTE * MEBIBYTE, tb = MEBIBYTE * MEBIBYTE, tebibytes = MEBIBYTE * MEBIBYTE,
}

-- flinkConfiguration as flat keys; nested objects join their keys with dots. Not to be changed.
function flat_settings(conf)
  conf = table_or_empty(conf)
  for _, value in pairs(conf) do
    if type(value) == "table" then
      return flattened(conf)
    end
  end
  return conf
end

function flattened(conf)
  local result = {}
  for key, value in pairs(conf) do
    if type(value) == "table" then
      for inner, item in pairs(flattened(value)) do
        result[key .. "." .. inner] = item
      end
    else
      result[key] = value
    end
  end
  return result
end

-- Bytes of a memory text: Flink's syntax first, then, as the operator does, a Kubernetes quantity in any case and with
-- blanks (`2 gib` is 2Gi).
function flink_bytes(value, field)
  local text = type(value) == "number" and string.format("%.0f", value) or tostring(value)
  local digits, unit = string.match(text, "^%s*(%d+)%s*(%a*)%s*$")
  local scale = digits and FLINK_UNITS[string.lower(unit)]
  if scale then
    return tonumber(digits) * scale
  end
  local words = {}
  for word in string.gmatch(string.upper(text), "%S+") do
    words[#words + 1] = word
  end
  local number, suffix = string.match(table.concat(words), "^(%d+%.?%d*)([KMGTPE]?I?)B?$")
  if number == nil or suffix == "I" or suffix == "K" then
    error(field .. ': memory "' .. text .. '" is neither a Flink size such as 2048m nor a quantity such as 2Gi', 0)
  end
  if #suffix == 2 then
    suffix = string.sub(suffix, 1, 1) .. "i"
  end
  return kube.getResourceQuantity(number .. suffix)
end

function conf_bytes(conf, key, default)
  local value = conf[key]
  if value == nil then
    return default
  end
  return flink_bytes(value, key)
end

-- A part that is a fraction of the whole, within bounds, given the rest of the whole.
function fraction_of_whole(conf, prefix, rest, fraction, least, most)
  fraction = tonumber(conf[prefix .. ".fraction"]) or fraction
  if fraction < 0 or fraction >= 1 then
    error(prefix .. ".fraction: expected a number from 0 to below 1, got " .. tostring(fraction), 0)
  end
  local part = rest * fraction / (1 - fraction)
  part = math.max(part, conf_bytes(conf, prefix .. ".min", least))
  return math.min(part, conf_bytes(conf, prefix .. ".max", most))
end

-- Flink's own memory of a role out of its parts, or nil.
function flink_size(conf, role)
  local size = conf_bytes(conf, role .. ".memory.flink.size", nil)
  if size ~= nil then
    return size
  end
  if role == "jobmanager" then
    local heap = conf_bytes(conf, "jobmanager.memory.heap.size", nil)
    return heap and heap + conf_bytes(conf, "jobmanager.memory.off-heap.size", 128 * MEBIBYTE)
  end
  local heap = conf_bytes(conf, "taskmanager.memory.task.heap.size", nil)
  local managed = conf_bytes(conf, "taskmanager.memory.managed.size", nil)
  if heap == nil or managed == nil then
    return nil
  end
  local rest = heap + managed + conf_bytes(conf, "taskmanager.memory.task.off-heap.size", 0)
    + conf_bytes(conf, "taskmanager.memory.framework.heap.size", 128 * MEBIBYTE)
    + conf_bytes(conf, "taskmanager.memory.framework.off-heap.size", 128 * MEBIBYTE)
  return rest + fraction_of_whole(conf, "taskmanager.memory.network", rest, 0.1, 64 * MEBIBYTE, math.huge)
end

-- The total process memory that flinkConfiguration gives a role, or nil.
function configured_bytes(conf, role)
  local total = conf_bytes(conf, role .. ".memory.process.size", nil)
  if total ~= nil then
    return total
  end
  local flink = flink_size(conf, role)
  if flink == nil then
    return nil
  end
  local rest = flink + conf_bytes(conf, role .. ".memory.jvm-metaspace.size", 256 * MEBIBYTE)
  local overhead = role .. ".memory.jvm-overhead"
  return rest + fraction_of_whole(conf, overhead, rest, 0.1, 192 * MEBIBYTE, 1024 * MEBIBYTE)
end

-- Whole MiB, rounded down, in the largest exact unit; nil stays nil.
function mebibytes_text(bytes)
  if bytes == nil then
    return nil
  end
  local amount = math.floor(bytes / MEBIBYTE)
  if amount > 0 and amount % 1024 == 0 then
    return string.format("%.0fGi", amount / 1024)
  end
  return string.format("%.0fMi", amount)
end
