-- What a $kind ($apiVersion) needs, for Karmada.
-- Every function is optional: what is defined is what is offered. `interp list` shows it, `interp test` checks it.
local kube = require("kube")

-- The groups of equal pods, each with a name, replicas and what one pod needs.
function GetComponents(obj)
  local spec = obj.spec or {}
  return {
    {
      name = "worker",
      replicas = spec.replicas or 1,
      replicaRequirements = kube.accuratePodRequirements(spec.template),
    },
  }
end

-- The same object, scaled. Asked for 0, it must stay as it is: Karmada sends 0 for workloads of several components.
function ReviseReplica(obj, replicas)
  if replicas > 0 then
    obj.spec = obj.spec or {}
    obj.spec.replicas = replicas
  end
  return obj
end

function InterpretHealth(obj)
  local spec, status = obj.spec or {}, obj.status or {}
  return status.readyReplicas ~= nil and status.readyReplicas == (spec.replicas or 1)
end
