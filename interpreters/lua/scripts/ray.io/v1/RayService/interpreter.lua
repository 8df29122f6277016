-- The Ray cluster that serves applications.
-- Also serves: ray.io/v1alpha1
--
-- Counted:
-- - `ray-head` and the worker groups of spec.rayClusterConfig, by the rules of RayCluster.
-- - A suspended service counts its size once it is resumed.
-- Not counted:
-- - The second cluster that exists while an upgrade is under way.
-- - What the autoscaler adds later.
-- Sources:
-- - kuberay: ray-operator/apis/ray/v1/rayservice_types.go, controllers/ray/rayservice_controller.go
-- include: snippets/ray.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = {
  "activeServiceStatus", "conditions", "lastUpdateTime", "numServeEndpoints", "observedGeneration",
  "pendingServiceStatus", "serviceStatus",
}

local APPLICATION_RANK = {
  RUNNING = 0, NOT_STARTED = 1, DEPLOYING = 2, DELETING = 3, UNHEALTHY = 4, DEPLOY_FAILED = 5,
}

function applications_of(status)
  return table_or_empty(get(status, "activeServiceStatus", "applicationStatuses"))
end

function GetComponents(object)
  local components = {}
  add_ray_cluster(components, table_or_empty(get(object, "spec", "rayClusterConfig")))
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return revise_workers(object, get(object, "spec", "rayClusterConfig"), GetComponents(object), replicas)
end

-- Ready to serve by its condition, or by the state of operators that write no conditions. Suspended on purpose is
-- healthy as well.
function InterpretHealth(object)
  if get(object, "spec", "suspend") == true and holds(object, "Suspended") then
    return true
  end
  if #table_or_empty(get(object, "status", "conditions")) == 0 then
    return get(object, "status", "serviceStatus") == "Running"
  end
  return holds(object, "Ready")
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

-- The worst report of each application stands for it.
function worst_applications(reports)
  local worst = {}
  for _, report in ipairs(reports) do
    for name, application in pairs(applications_of(report.status)) do
      local rank = APPLICATION_RANK[get(application, "status")] or 0
      if worst[name] == nil or rank > (APPLICATION_RANK[get(worst[name], "status")] or 0) then
        worst[name] = copy(application)
      end
    end
  end
  return worst
end

function AggregateStatus(object, items)
  local ways = { conditions = "conditions", lastUpdateTime = "latest", numServeEndpoints = "sum",
    observedGeneration = "latest" }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return status.serviceStatus == "Running" and 0 or 1
    end)
    local status = reflect(worst, { "activeServiceStatus", "pendingServiceStatus", "serviceStatus" })
    local applications = worst_applications(reports)
    if next(applications) ~= nil then
      status.activeServiceStatus = table_or_empty(copy(status.activeServiceStatus))
      status.activeServiceStatus.applicationStatuses = applications
    end
    return status
  end)
end

function GetDependencies(object)
  return dependencies_of_templates(object, ray_templates(get(object, "spec", "rayClusterConfig")))
end
