-- A Ray cluster made for one job, and the pod that submits the job.
-- Also serves: ray.io/v1alpha1
--
-- Division: whole
-- Corrects: InterpretComponent: leaves out hosts, bounds, suspended groups, autoscaler, init containers and submitter
--
-- Counted:
-- - `ray-head` and the worker groups of spec.rayClusterSpec, by the rules of RayCluster.
-- - `submitter`: 1 pod of 500m and 200Mi, or submitterPodTemplate as a whole, in K8sJobMode (the default). In
--   SidecarMode the same container runs in the head pod; HTTPMode and InteractiveMode have none.
-- - With a clusterSelector only the submitter: the cluster is there already.
-- - A suspended job counts its size once it is resumed. The submitter starts after the cluster and counts with it.
-- Not counted:
-- - A second cluster of a retry (backoffLimit), what the autoscaler adds later.
-- Sources:
-- - kuberay: ray-operator/controllers/ray/common/job.go, controllers/ray/rayjob_controller.go,
--   apis/ray/v1/rayjob_types.go
-- include: snippets/ray.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = {
  "dashboardURL", "endTime", "failed", "jobDeploymentStatus", "jobId", "jobStatus", "message", "observedGeneration",
  "rayClusterName", "rayClusterStatus", "rayJobInfo", "reason", "startTime", "succeeded",
}

local DEPLOYMENT_RANK = {
  Complete = 1, Running = 2, Initializing = 3, Waiting = 3, Suspended = 4, Suspending = 4, Retrying = 5,
  ValidationFailed = 6, Failed = 7,
}

function default_submitter()
  return { requests = { cpu = "500m", memory = "200Mi" } }
end

-- The job's cluster spec, or nil where it runs on a cluster that exists.
function own_cluster(object)
  local selector = get(object, "spec", "clusterSelector")
  if type(selector) == "table" and next(selector) ~= nil then
    return nil
  end
  return get(object, "spec", "rayClusterSpec")
end

function GetComponents(object)
  local components = {}
  local mode = text_or_nil(get(object, "spec", "submissionMode")) or "K8sJobMode"
  local beside_head = nil
  if mode == "SidecarMode" then
    beside_head = default_submitter()
  end
  add_ray_cluster(components, own_cluster(object), beside_head)
  if mode == "K8sJobMode" then
    local template = get(object, "spec", "submitterPodTemplate")
    if type(template) ~= "table" then
      template = { spec = { containers = { { name = "submitter", resources = default_submitter() } } } }
    end
    add_component(components, "submitter", 1, pod_requirements(template))
  end
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

-- At work or done well. Suspended on purpose is healthy as well.
function InterpretHealth(object)
  local status = table_or_empty(get(object, "status"))
  local phase = status.jobDeploymentStatus
  if status.jobStatus == "FAILED" or status.jobStatus == "STOPPED" then
    return false
  end
  if phase == "Suspended" then
    return get(object, "spec", "suspend") == true
  end
  return phase == "Running" or (phase == "Complete" and status.jobStatus == "SUCCEEDED")
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

function AggregateStatus(object, items)
  local ways = { endTime = "finished", failed = "sum", observedGeneration = "latest", startTime = "earliest",
    succeeded = "sum" }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return DEPLOYMENT_RANK[status.jobDeploymentStatus] or 3
    end)
    return reflect(worst, { "dashboardURL", "jobDeploymentStatus", "jobId", "jobStatus", "message", "rayClusterName",
      "rayClusterStatus", "reason" })
  end)
end

function GetDependencies(object)
  local templates = ray_templates(own_cluster(object))
  templates[#templates + 1] = table_or_empty(get(object, "spec", "submitterPodTemplate"))
  return dependencies_of_templates(object, templates)
end
