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
