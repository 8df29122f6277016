-- The head pod and the worker groups of a Ray cluster.
-- Also serves: ray.io/v1alpha1
--
-- Division: whole
-- Corrects: InterpretComponent: leaves out hosts, bounds, suspended groups, autoscaler and init containers
--
-- Counted:
-- - `ray-head`: 1, with the autoscaler's container (500m, 512Mi or autoscalerOptions.resources) if
--   enableInTreeAutoscaling.
-- - One component per worker group, by its groupName: replicas between minReplicas and maxReplicas, times numOfHosts.
--   An absent number is 0; a suspended group counts 0; a suspended cluster counts its size once it is resumed.
-- - The init container of every worker that waits for the head (200m, 256Mi), which matters for small workers.
-- Not counted:
-- - What the autoscaler adds later: an elastic cluster counts its start value.
-- - rayStartParams and the groups' `resources`: they tell Ray, not Kubernetes.
-- - Containers behind feature gates (mTLS, history collector) and the clean-up job of Redis fault tolerance.
-- Sources:
-- - kuberay: ray-operator/controllers/ray/utils/util.go, controllers/ray/common/pod.go,
--   apis/ray/v1/raycluster_types.go
-- include: snippets/ray.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = {
  "availableWorkerReplicas", "conditions", "desiredCPU", "desiredGPU", "desiredMemory", "desiredTPU",
  "desiredWorkerReplicas", "endpoints", "head", "lastUpdateTime", "maxWorkerReplicas", "minWorkerReplicas",
  "observedGeneration", "readyWorkerReplicas", "reason", "state", "stateTransitionTimes",
}

function GetComponents(object)
  local components = {}
  add_ray_cluster(components, table_or_empty(get(object, "spec")))
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

-- In a member cluster the Ray autoscaler writes the groups' replicas; it keeps them.
function Retain(desired, observed)
  if get(desired, "spec", "enableInTreeAutoscaling") ~= true then
    return desired
  end
  for _, group in ipairs(table_or_empty(desired.spec.workerGroupSpecs)) do
    for _, kept in ipairs(table_or_empty(get(observed, "spec", "workerGroupSpecs"))) do
      if kept.groupName ~= nil and kept.groupName == group.groupName then
        group.replicas = kept.replicas or group.replicas
        group.scaleStrategy = kept.scaleStrategy
      end
    end
  end
  return desired
end

-- Head up and all workers seen once, or the state `ready` of operators that write no conditions. Suspended on purpose
-- is healthy as well.
function InterpretHealth(object)
  if holds(object, "RayClusterReplicaFailure") then
    return false
  end
  if holds(object, "RayClusterSuspended") and get(object, "spec", "suspend") == true then
    return true
  end
  if #table_or_empty(get(object, "status", "conditions")) == 0 then
    return get(object, "status", "state") == "ready"
  end
  return holds(object, "HeadPodReady") and holds(object, "RayClusterProvisioned")
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

function AggregateStatus(object, items)
  local ways = {
    availableWorkerReplicas = "sum", desiredWorkerReplicas = "sum", maxWorkerReplicas = "sum",
    minWorkerReplicas = "sum", readyWorkerReplicas = "sum", desiredCPU = "quantity", desiredGPU = "quantity",
    desiredMemory = "quantity", desiredTPU = "quantity", lastUpdateTime = "latest", observedGeneration = "latest",
    conditions = "conditions",
  }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return ({ ready = 1, suspended = 2, failed = 4 })[status.state] or 3
    end)
    return reflect(worst, { "endpoints", "head", "reason", "state", "stateTransitionTimes" })
  end)
end

function GetDependencies(object)
  return dependencies_of_templates(object, ray_templates(get(object, "spec")))
end
