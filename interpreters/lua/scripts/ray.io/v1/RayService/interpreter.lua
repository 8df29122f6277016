-- The Ray cluster that serves applications.
-- Also serves: ray.io/v1alpha1
--
-- Division: karmada
-- Components: several
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

-- Gives the worker groups this many pods in all, in proportion to what they have now. What does not divide goes to the
-- groups in their order; a group takes whole multiples of its hosts. Bounds that exclude the new number move with it.
function share_workers(cluster, pods)
  local groups, total = {}, 0
  for _, group in ipairs(table_or_empty(get(cluster, "workerGroupSpecs"))) do
    if group.suspend ~= true then
      local hosts = math.max(count(group.numOfHosts, 1, "numOfHosts"), 1)
      groups[#groups + 1] = { spec = group, pods = worker_pods(group), hosts = hosts }
      total = total + groups[#groups].pods
    end
  end
  local left = pods
  for _, group in ipairs(groups) do
    local share = total > 0 and pods * group.pods / total or pods / #groups
    group.replicas = math.floor(math.floor(share) / group.hosts)
    left = left - group.replicas * group.hosts
  end
  for _, group in ipairs(groups) do
    if left >= group.hosts then
      group.replicas = group.replicas + 1
      left = left - group.hosts
    end
  end
  for _, group in ipairs(groups) do
    local spec = group.spec
    spec.replicas = group.replicas
    if (tonumber(spec.minReplicas) or 0) > group.replicas then
      spec.minReplicas = group.replicas
    end
    if (tonumber(spec.maxReplicas) or 2147483647) < group.replicas then
      spec.maxReplicas = group.replicas
    end
  end
end

-- Scales the workers so that all pods together are `replicas`; the other pods stay. Asked for 0 (Karmada's call for
-- workloads with several components) or for what there is, it changes nothing.
function revise_workers(object, cluster, components, replicas)
  local total = one_view(components)
  if replicas == 0 or replicas == total or type(cluster) ~= "table" then
    return object
  end
  local workers = 0
  for _, group in ipairs(table_or_empty(cluster.workerGroupSpecs)) do
    workers = workers + worker_pods(group)
  end
  share_workers(cluster, math.max(replicas - (total - workers), 0))
  return object
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
