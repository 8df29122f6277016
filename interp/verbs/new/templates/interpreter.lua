-- What a $kind ($apiVersion) needs, for Karmada.
-- Every function is optional: what is defined is what is offered. `interp list` shows it, `interp test` checks it.
--
-- Division: whole
-- A $kind goes whole to a cluster or not at all. If a share of its replicas runs by itself, write divides instead, with
-- GetReplicas and a ReviseReplica that writes the share.
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

function InterpretHealth(obj)
  local spec, status = obj.spec or {}, obj.status or {}
  return status.readyReplicas ~= nil and status.readyReplicas == (spec.replicas or 1)
end
