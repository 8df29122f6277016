-- The same play as its neighbour Act, in the other language.

local function behave(obj)
  local behaviour = obj.spec.behaviour
  if behaviour == "loop" then
    while true do end
  elseif behaviour == "grow" then
    local grown = {}
    while true do grown[#grown + 1] = {grown, {}} end
  elseif behaviour == "recurse" then
    return 1 + behave(obj)
  elseif behaviour == "fail" then
    error("the scene cannot be played")
  elseif behaviour == "freeze" then  -- a long call into C, which only killing the worker ends
    return string.find(("a"):rep(30000), ".-.-.-.-b$")
  elseif behaviour == "print" then
    print("the note is", obj.spec.note)
  end
end

function GetReplicas(obj)
  behave(obj)
  return obj.spec.replicas, {resourceRequest = {cpu = "500m"}}
end

function GetComponents(obj)
  behave(obj)
  return obj.spec.components
end

function ReviseReplica(obj, replicas)
  if replicas > 0 then
    obj.spec.replicas = replicas
  end
  return obj
end

function Retain(desired, observed)
  desired.spec.kept = observed.spec.kept
  return desired
end

function AggregateStatus(obj, items)
  local clusters = {}
  for i, item in ipairs(items) do
    clusters[i] = item.clusterName
  end
  obj.status = {clusters = clusters}
  return obj
end

function Prune(obj)
  obj.status = nil
  return obj
end

function ReflectStatus(obj)
  return obj.status or {}
end

function InterpretHealth(obj)
  return obj.spec.healthy ~= false
end

function GetDependencies(obj)
  return {{apiVersion = "v1", kind = "ConfigMap", namespace = "default", name = obj.spec.needs}}
end
