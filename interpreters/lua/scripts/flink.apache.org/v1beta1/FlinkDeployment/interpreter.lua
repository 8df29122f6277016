-- JobManager and TaskManager pods of a Flink application or session cluster.
--
-- Division: whole
-- Corrects: InterpretReplica: reads 2048m as 2.048 bytes and assumes one TaskManager where task slots are not given
-- Corrects: InterpretComponent: reads 2048m likewise, and leaves out sidecars, role templates and defaults
--
-- Counted:
-- - `jobmanager`: spec.jobManager.replicas, 1 by default; without a jobManager block kubernetes.jobmanager.replicas.
-- - `taskmanager`: taskManager.replicas, else parallelism over task slots, rounded up. A native session cluster
--   starts none, a standalone session cluster one by default.
-- - Memory in Flink's units (`2048m` is 2 GiB), in whole MiB rounded down; else from process.size, flink.size or heap
--   keys of flinkConfiguration, with metaspace and JVM overhead where Flink adds them. Cpu with Flink's defaults.
-- - Pod templates, the role's merged over the common one by position (by name where configured), with sidecars,
--   further resources, node selectors and tolerations of flinkConfiguration, and priority class.
-- - A suspended job counts its size once it is resumed.
-- Not counted:
-- - What the autoscaler, reactive mode, redundant TaskManagers or a session cluster's jobs add later.
-- - Limit factors: they change limits only.
-- Sources:
-- - flink-kubernetes-operator: config/FlinkConfigBuilder.java, utils/FlinkUtils.java, docs on pod templates
-- - flink: MemorySize.java, TaskManagerOptions.java, TaskExecutorProcessUtils.java, KubernetesUtils.java
-- include: snippets/pods.lua
-- include: snippets/components.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua
-- include: snippets/flink_memory.lua
-- include: snippets/templates.lua

local STATUS_FIELDS = {
  "clusterInfo", "error", "jobManagerDeploymentStatus", "jobStatus", "lifecycleState", "observedGeneration",
  "reconciliationStatus", "taskManager",
}

-- Job states that need no help: at work, at rest, or on the way to one of these by themselves.
local SETTLED = {
  RUNNING = true, FINISHED = true, FAILED = true, CANCELED = true, SUSPENDED = true,
  CANCELLING = true, FAILING = true, RESTARTING = true,
}

-- Mistakes of the job's author: another cluster would not help.
local USER_ERRORS = { "ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff" }

local STATE_RANK = { RUNNING = 1, FINISHED = 2, CANCELED = 3, SUSPENDED = 3, RESTARTING = 5, FAILING = 6, FAILED = 7 }

-- What a role is called in the spec and by the keys of flinkConfiguration.
local JOBMANAGER = {
  name = "jobmanager", field = "jobManager",
  cpu = "kubernetes.jobmanager.cpu", cpu_amount = "kubernetes.jobmanager.cpu.amount",
  node_selector = "kubernetes.jobmanager.node-selector", tolerations = "kubernetes.jobmanager.tolerations",
}
local TASKMANAGER = {
  name = "taskmanager", field = "taskManager",
  cpu = "kubernetes.taskmanager.cpu", cpu_amount = "kubernetes.taskmanager.cpu.amount",
  node_selector = "kubernetes.taskmanager.node-selector", tolerations = "kubernetes.taskmanager.tolerations",
}

function is_standalone(spec)
  return spec.mode == "standalone"
end

function task_slots(conf)
  return math.max(count(conf["taskmanager.numberOfTaskSlots"], 1, "taskmanager.numberOfTaskSlots"), 1)
end

-- The highest parallelism that a job vertex is given by `vertex:number,vertex:number`.
function overridden_parallelism(conf)
  local highest = nil
  for number in string.gmatch(tostring(conf["pipeline.jobvertex-parallelism-overrides"] or ""), ":%s*(%d+)") do
    highest = math.max(highest or 0, tonumber(number))
  end
  return highest
end

function jobmanager_count(spec, conf)
  if type(spec.jobManager) == "table" then
    return count(spec.jobManager.replicas, 1, "spec.jobManager.replicas")
  end
  return count(conf["kubernetes.jobmanager.replicas"], 1, "kubernetes.jobmanager.replicas")
end

function taskmanager_count(spec, conf)
  local job = spec.job
  if job == nil and not is_standalone(spec) then
    return 0
  end
  local replicas = get(spec, "taskManager", "replicas")
  if replicas ~= nil then
    return count(replicas, 1, "spec.taskManager.replicas")
  end
  if job == nil then
    return 1
  end
  local parallelism = get(job, "parallelism") or conf["parallelism.default"]
  if is_standalone(spec) then
    parallelism = overridden_parallelism(conf) or parallelism
  end
  return math.ceil(count(parallelism, 1, "spec.job.parallelism") / task_slots(conf))
end

-- Cores as text; Flink takes a number of cores, the newer `resources` field any quantity.
function cores_text(value)
  local cores = tonumber(value)
  if cores == nil then
    return quantity_text(value)
  end
  local milli = math.ceil(cores * 1000 - 0.0001)
  if milli % 1000 == 0 then
    return string.format("%d", milli / 1000)
  end
  return string.format("%dm", milli)
end

-- What a role asks for by its `resources` (requests, else limits) or, failing that, by its older `resource`.
function role_quantities(role)
  local older = table_or_empty(get(role, "resource"))
  local asked = { cpu = older.cpu, memory = older.memory, ["ephemeral-storage"] = older.ephemeralStorage }
  local resources = get(role, "resources")
  if resources ~= nil then
    for _, name in ipairs({ "cpu", "memory", "ephemeral-storage" }) do
      asked[name] = get(resources, "requests", name) or get(resources, "limits", name) or asked[name]
    end
  end
  return asked
end

-- What Flink asks for its own container.
function main_requests(spec, conf, role)
  local asked = role_quantities(spec[role.field])
  local cores = asked.cpu or conf[role.cpu_amount] or conf[role.cpu]
  if role == TASKMANAGER then
    local override = not is_standalone(spec) and conf["taskmanager.cpu.cores"]
    cores = override or cores or task_slots(conf)
  end
  local bytes
  if asked.memory ~= nil then
    bytes = flink_bytes(asked.memory, role.field)
  else
    bytes = configured_bytes(conf, role.name)
  end
  local storage = asked["ephemeral-storage"]
  return {
    cpu = cores_text(cores or 1),
    memory = mebibytes_text(bytes),
    ["ephemeral-storage"] = storage and quantity_text(storage),
  }
end

-- `key:value,key:value` as a map.
function pairs_of_text(text)
  local result = {}
  for key, value in string.gmatch(tostring(text), "%s*([^:,]+)%s*:%s*([^,]*)") do
    result[key] = string.match(value, "^(.-)%s*$")
  end
  return result
end

-- The pod with what flinkConfiguration says of where the role's pods may run.
function with_configured_claims(pod, conf, role)
  local selector, tolerations = conf[role.node_selector], conf[role.tolerations]
  if selector == nil and tolerations == nil then
    return pod
  end
  pod = requiring_fields(pod)
  if selector ~= nil then
    pod.nodeSelector = shallow(pod.nodeSelector)
    for key, value in pairs(pairs_of_text(selector)) do
      pod.nodeSelector[key] = value
    end
  end
  if tolerations ~= nil then
    pod.tolerations = shallow(pod.tolerations)
    for text in string.gmatch(tostring(tolerations), "[^;]+") do
      local toleration = pairs_of_text(text)
      toleration.tolerationSeconds = tonumber(toleration.tolerationSeconds)
      pod.tolerations[#pod.tolerations + 1] = toleration
    end
  end
  return pod
end

function role_requirements(spec, conf, role)
  local requests = main_requests(spec, conf, role)
  local by_name = conf["kubernetes.operator.pod-template.merge-arrays-by-name"]
  local common, own = get(spec, "podTemplate", "spec"), get(spec, role.field, "podTemplate", "spec")
  local pod = with_configured_claims(merged_pod(common, own, by_name == true or by_name == "true"), conf, role)
  if asks_nothing(pod) then
    return requirements_with(pod, requests)
  end
  return pod_requirements({ spec = with_requests(pod, "flink-main-container", requests) })
end

function GetComponents(object)
  local spec = table_or_empty(get(object, "spec"))
  local conf = flat_settings(spec.flinkConfiguration)
  local components = {}
  add_component(components, "jobmanager", jobmanager_count(spec, conf), role_requirements(spec, conf, JOBMANAGER))
  add_component(components, "taskmanager", taskmanager_count(spec, conf), role_requirements(spec, conf, TASKMANAGER))
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

function InterpretHealth(object)
  local status = table_or_empty(get(object, "status"))
  local state = text_or_nil(get(status, "jobStatus", "state"))
  if state == nil then
    return status.jobManagerDeploymentStatus == "READY" and status.lifecycleState == "STABLE"
  end
  if SETTLED[state] then
    return true
  end
  for _, mistake in ipairs(USER_ERRORS) do
    if string.find(tostring(status.error or ""), mistake, 1, true) then
      return true
    end
  end
  return false
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

function AggregateStatus(object, items)
  return aggregate(object, items, {}, function(reports)
    return worst_report(reports, function(status)
      local state = get(status, "jobStatus", "state")
      return state and (STATE_RANK[state] or 4)
    end).status
  end)
end

function GetDependencies(object)
  local spec = table_or_empty(get(object, "spec"))
  local templates = { table_or_empty(spec.podTemplate) }
  templates[2] = table_or_empty(get(spec, "jobManager", "podTemplate"))
  templates[3] = table_or_empty(get(spec, "taskManager", "podTemplate"))
  local found = dependencies_of_templates(object, templates)
  add_dependency(found, "ServiceAccount", spec.serviceAccount, get(object, "metadata", "namespace"))
  return sorted_dependencies(found)
end
