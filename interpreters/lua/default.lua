-- The last resort: an object with a pod template in spec.template is one component of equal pods. Only asked about such.
-- For the command line, estimates and audits; never registered with Karmada.
local kube = require("kube")

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
  return obj.spec.replicas or 1, requirements_of(obj.spec.template)
end

function GetComponents(obj)
  local requirements = requirements_of(obj.spec.template)
  return { { name = "main", replicas = obj.spec.replicas or 1, replicaRequirements = requirements } }
end
