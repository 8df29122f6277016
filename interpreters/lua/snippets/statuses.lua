-- One status out of many clusters'. A script says per field how the clusters' values fold into one.
-- include: snippets/fields.lua
local kube = require("kube")

-- Conditions that hold only if they hold in every cluster; any other one holds as soon as one cluster reports it.
local EVERYWHERE = {
  AllReady = true, Available = true, Complete = true, Completed = true, HeadPodReady = true, Ready = true,
  RayClusterProvisioned = true, RayClusterSuspended = true, Succeeded = true, SuccessCriteriaMet = true,
  Suspended = true,
}

-- The items that carry a status.
function reports_of(items)
  local reports = {}
  for _, item in ipairs(table_or_empty(items)) do
    if type(get(item, "status")) == "table" then
      reports[#reports + 1] = item
    end
  end
  return reports
end

-- Picks the report whose `rank` is highest: the cluster that is worst off speaks for all.
function worst_report(reports, rank)
  local worst, highest = nil, nil
  for _, report in ipairs(reports) do
    local value = rank(report.status) or 0
    if highest == nil or value > highest then
      worst, highest = report, value
    end
  end
  return worst
end

-- Adds up numbers through nested maps; of texts the first stays.
function add_tree(sum, tree)
  for key, value in pairs(tree) do
    if type(value) == "table" then
      sum[key] = add_tree(table_or_empty(sum[key]), value)
    elseif type(value) == "number" then
      sum[key] = (tonumber(sum[key]) or 0) + value
    elseif sum[key] == nil then
      sum[key] = value
    end
  end
  return sum
end

-- The condition of one type, of all clusters.
function fold_condition(kind, reports, expected)
  local holding, other, held = nil, nil, 0
  for _, report in ipairs(reports) do
    for _, condition in ipairs(table_or_empty(report.status.conditions)) do
      if get(condition, "type") == kind then
        if condition.status == "True" then
          held = held + 1
          if holding == nil or (condition.lastTransitionTime or "") > (holding.lastTransitionTime or "") then
            holding = copy(condition)
            if not EVERYWHERE[kind] and text_or_nil(condition.message) then
              holding.message = tostring(report.clusterName) .. ": " .. condition.message
            end
          end
        else
          other = other or copy(condition)
        end
      end
    end
  end
  if holding ~= nil and (not EVERYWHERE[kind] or held == expected) then
    return holding
  end
  return other
end

function fold_conditions(reports, expected)
  local conditions, seen = {}, {}
  for _, report in ipairs(reports) do
    for _, condition in ipairs(table_or_empty(report.status.conditions)) do
      local kind = get(condition, "type")
      if kind ~= nil and not seen[kind] then
        seen[kind] = true
        conditions[#conditions + 1] = fold_condition(kind, reports, expected)
      end
    end
  end
  return conditions
end

-- One field of all clusters by a named way of folding.
function fold(way, reports, field, expected)
  if way == "conditions" then
    return fold_conditions(reports, expected)
  end
  local result, seen = nil, 0
  for _, report in ipairs(reports) do
    local value = report.status[field]
    if value ~= nil then
      seen = seen + 1
      if way == "sum" then
        result = (result or 0) + (tonumber(value) or 0)
      elseif way == "quantity" then
        result = kube.resourceAdd(result, tostring(value))
      elseif way == "tree" then
        result = add_tree(result or {}, table_or_empty(value))
      elseif way == "list" then
        result = result or {}
        for _, item in ipairs(table_or_empty(value)) do
          result[#result + 1] = item
        end
      elseif result == nil or (way == "earliest" and value < result) or (way ~= "earliest" and value > result) then
        result = value
      end
    end
  end
  if way == "finished" and seen < expected then
    return nil
  end
  return result
end

-- Folds the status of all clusters into the object's: `ways` names for each field sum, quantity, tree, list, earliest,
-- latest, finished (the latest, once all have one) or conditions. With one cluster its status is the answer as it is;
-- before any has reported, the object stays as it was. `state` gives further fields out of the reports.
function aggregate(object, items, ways, state)
  local reports = reports_of(items)
  if #reports == 0 then
    return object
  end
  if #items == 1 then
    object.status = reports[1].status
    return object
  end
  local status = {}
  if state ~= nil then
    status = state(reports, #items)
  end
  for field, way in pairs(ways) do
    status[field] = fold(way, reports, field, #items)
  end
  object.status = status
  return object
end

-- The named fields of the object's status.
function reflect(object, fields)
  local status = {}
  for _, field in ipairs(fields) do
    status[field] = get(object, "status", field)
  end
  return status
end

-- Whether a condition is reported as true.
function holds(object, kind)
  for _, condition in ipairs(table_or_empty(get(object, "status", "conditions"))) do
    if get(condition, "type") == kind and condition.status == "True" then
      return true
    end
  end
  return false
end
