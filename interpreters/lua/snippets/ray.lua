-- The pods of a Ray cluster spec, as it stands in RayCluster, RayJob and RayService.
-- include: snippets/pods.lua
-- include: snippets/components.lua

-- Init container of every worker pod: it waits until the head answers.
local WAIT_FOR_HEAD = { cpu = "200m", memory = "256Mi" }
local AUTOSCALER = { cpu = "500m", memory = "512Mi" }

-- Pods of a worker group: replicas between its bounds, times hosts. A suspended group has none.
function worker_pods(group)
  if group.suspend == true then
    return 0
  end
  local least = count(group.minReplicas, 0, "minReplicas")
  local most = count(group.maxReplicas, 2147483647, "maxReplicas")
  local replicas = math.min(math.max(count(group.replicas, 0, "replicas"), least), most)
  return replicas * count(group.numOfHosts, 1, "numOfHosts")
end

function group_name(group, index)
  return text_or_nil(group.groupName) or "worker-" .. index
end

-- What requirements follow from in the pod of a template with one more container (`containers`) or init container (`initContainers`).
function template_with(template, field, resources)
  local pod = requiring_fields(table_or_empty(get(template, "spec")))
  pod[field] = shallow(pod[field])
  pod[field][#pod[field] + 1] = { name = "added-by-kuberay", resources = resources }
  return { spec = pod }
end

-- Head and worker groups. `beside_head` are the resources of a further container in the head pod, if any.
function add_ray_cluster(components, cluster, beside_head)
  if type(cluster) ~= "table" then
    return
  end
  local head = get(cluster, "headGroupSpec", "template")
  if cluster.enableInTreeAutoscaling == true then
    local autoscaler = get(cluster, "autoscalerOptions", "resources")
    head = template_with(head, "containers", copy(autoscaler) or { requests = copy(AUTOSCALER) })
  end
  if beside_head ~= nil then
    head = template_with(head, "containers", beside_head)
  end
  add_component(components, "ray-head", 1, pod_requirements(head))
  for i, group in ipairs(table_or_empty(cluster.workerGroupSpecs)) do
    local worker = template_with(group.template, "initContainers", { requests = copy(WAIT_FOR_HEAD) })
    add_component(components, group_name(group, i), worker_pods(group), pod_requirements(worker))
  end
end

function ray_templates(cluster)
  local templates = { table_or_empty(get(cluster, "headGroupSpec", "template")) }
  for _, group in ipairs(table_or_empty(get(cluster, "workerGroupSpecs"))) do
    templates[#templates + 1] = table_or_empty(group.template)
  end
  return templates
end
