-- Numbers as text: for scripts as Go prints them, for JSON without exponent where the value is whole.
local P = ...
local floor, frexp, format, match, rep, tonumber = math.floor, math.frexp, string.format, string.match, string.rep, tonumber

-- The fewest digits that read back as the same double.
local function shortest(n)
  if n > -2.3e-308 and n < 2.3e-308 then -- so close to zero, digits get fewer
    for digits = 1, 17 do
      local text = format("%." .. digits .. "g", n)
      if tonumber(text) == n then return text end
    end
  end
  local text = format("%.15g", n)
  if tonumber(text) == n then return text end
  text = format("%.16g", n)
  if tonumber(text) == n then return text end
  if frexp(n < 0 and -n or n) == 0.5 then -- the gap above a power of two is wider: the next 16 digits may do
    local sign, digits, power = match(format("%.16e", n), "^(-?)([%d.]+)%de(.+)$")
    local kept, last, nines = match(digits, "^(.-)([0-8])(9*)$")
    if kept then
      text = sign .. kept .. (last + 1) .. rep("0", #nines) .. "e" .. power
      if tonumber(text) == n then return text end
    end
  end
  return format("%.17g", n)
end

-- Go's %v of a float: an exponent below 1e-4 and from 1e6 on. Whole numbers up to 2^63 never come here.
local function fraction_text(n)
  local text = shortest(n)
  local sign, digits, power = match(text, "^(-?)([%d.]+)e([-+]%d+)$")
  if not sign then
    sign, digits = match(text, "^(-?)([%d.]+)$")
    power = 0
  end
  local whole, rest = match(digits, "^(%d+)%.?(%d*)$")
  local all = whole .. rest
  local point = #whole + tonumber(power)
  local zeros = #match(all, "^0*")
  all, point = all:sub(zeros + 1), point - zeros
  all = all:gsub("0+$", "")
  local exponent = point - 1
  if exponent < -4 or exponent >= 6 then
    local mantissa = #all > 1 and all:sub(1, 1) .. "." .. all:sub(2) or all
    return format("%s%se%s%02d", sign, mantissa, exponent < 0 and "-" or "+", math.abs(exponent))
  elseif point <= 0 then
    return sign .. "0." .. rep("0", -point) .. all
  end
  return sign .. all:sub(1, point) .. "." .. all:sub(point + 1)
end

-- What tostring, `..` and %s print.
function P.number_text(n)
  if n == floor(n) and n >= -2 ^ 63 and n < 2 ^ 63 then return format("%d", n) end
  if n ~= n then return "NaN" end
  if n == math.huge then return "+Inf" end
  if n == -math.huge then return "-Inf" end
  return fraction_text(n)
end

-- What a JSON document carries; the caller has refused NaN and the infinities.
function P.number_json(n)
  if n == floor(n) and n > -1e21 and n < 1e21 then
    if n == 0 then return "0" end
    return format("%.0f", n)
  end
  return shortest(n)
end
