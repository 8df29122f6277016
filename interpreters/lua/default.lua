-- The last resort: an object with a pod template in spec.template is one component of equal pods.
-- For the command line, estimates and audits; never registered with Karmada.
local kube = require("kube")

local function template_of(obj)
  local spec = obj.spec
  if type(spec) ~= "table" or type(spec.template) ~= "table" then
    error("no script knows " .. tostring(obj.apiVersion) .. " " .. tostring(obj.kind)
      .. ", and it has no pod template in spec.template to fall back on", 0)
  end
  return spec.template
end

local function requirements_of(template)
  local requirements = kube.accuratePodRequirements(template)
  local class = type(template.spec) == "table" and template.spec.priorityClassName or nil
  if class ~= nil and class ~= "" then
    requirements = requirements or {}
    requirements.priorityClassName = class
  end
  return requirements
end

function GetReplicas(obj)
  local template = template_of(obj)
  return obj.spec.replicas or 1, requirements_of(template)
end

function GetComponents(obj)
  local template = template_of(obj)
  return { { name = "main", replicas = obj.spec.replicas or 1, replicaRequirements = requirements_of(template) } }
end
