-- The driver and executor pods of a Spark application spec, as it stands in SparkApplication and its schedule.
-- include: snippets/pods.lua
-- include: snippets/components.lua
-- include: snippets/dependencies.lua
-- include: snippets/templates.lua

local SPARK_UNITS = {
  [""] = 1, b = 1 / 1048576, k = 1 / 1024, kb = 1 / 1024, m = 1, mb = 1, mi = 1, mib = 1, g = 1024, gb = 1024,
  gi = 1024, gib = 1024, t = 1048576, tb = 1048576, ti = 1048576, p = 1073741824, pb = 1073741824,
}

-- MiB of a Spark memory text: binary units in any case, none means MiB, what is not whole is cut.
function spark_mebibytes(value, field)
  local text = type(value) == "number" and string.format("%.0f", value) or tostring(value)
  local digits, unit = string.match(text, "^%s*(%d+)%s*(%a*)%s*$")
  local scale = digits and SPARK_UNITS[string.lower(unit)]
  if not scale then
    error(field .. ': memory "' .. text .. '" is not a whole number with a unit of b, k, m, g, t or p', 0)
  end
  return math.floor(tonumber(digits) * scale)
end

-- Python and R programs need more beside the heap. spark-submit decides by the main file.
function beside_jvm(spec)
  local file = text_or_nil(spec.mainApplicationFile)
  if file ~= nil then
    local name = string.lower(file)
    return string.sub(name, -3) == ".py" or string.sub(name, -2) == ".r", string.sub(name, -3) == ".py"
  end
  local kind = string.lower(tostring(spec.type or ""))
  return kind == "python" or kind == "r", kind == "python"
end

-- MiB of a role's pod: heap, overhead and, on executors, off-heap and Python memory.
function role_mebibytes(spec, role)
  local conf, own = table_or_empty(spec.sparkConf), table_or_empty(spec[role])
  local prefix = "spark." .. role .. "."
  local heap = spark_mebibytes(own.memory or conf[prefix .. "memory"] or "1g", prefix .. "memory")
  local total = heap
  local overhead = own.memoryOverhead or conf[prefix .. "memoryOverhead"]
  local other_language, python = beside_jvm(spec)
  if overhead ~= nil then
    total = total + spark_mebibytes(overhead, prefix .. "memoryOverhead")
  else
    local factor = tonumber(conf[prefix .. "memoryOverheadFactor"]) or tonumber(spec.memoryOverheadFactor)
      or tonumber(conf["spark.kubernetes.memoryOverheadFactor"]) or (other_language and 0.4 or 0.1)
    local least = spark_mebibytes(conf[prefix .. "minMemoryOverhead"] or "384m", prefix .. "minMemoryOverhead")
    total = total + math.max(math.floor(factor * heap), least)
  end
  if role == "executor" then
    if tostring(conf["spark.memory.offHeap.enabled"]) == "true" then
      total = total + spark_mebibytes(conf["spark.memory.offHeap.size"] or "0b", "spark.memory.offHeap.size")
    end
    if python then
      total = total + spark_mebibytes(conf["spark.executor.pyspark.memory"] or "0b", "spark.executor.pyspark.memory")
    end
  end
  return total
end

-- Node selectors among the keys of sparkConf: what follows the prefix is a label.
function add_spark_selectors(selector, conf, prefix)
  for key, value in pairs(conf) do
    if string.sub(key, 1, #prefix) == prefix then
      selector[string.sub(key, #prefix + 1)] = tostring(value)
    end
  end
end

-- Spark's own container in the template is the one of this name, else the first.
function name_spark_container(pod, name)
  local containers = table_or_empty(pod.containers)
  for _, container in ipairs(containers) do
    if get(container, "name") == name then
      return
    end
  end
  if type(containers[1]) == "table" then
    containers[1].name = name
  end
end

function append_all(list, items)
  list = table_or_empty(list)
  for _, item in ipairs(table_or_empty(items)) do
    list[#list + 1] = copy(item)
  end
  if list[1] ~= nil then
    return list
  end
  return nil
end

-- The pod of a role: the template, Spark's container, and what the operator's webhook adds.
function spark_pod(spec, role)
  local conf, own = table_or_empty(spec.sparkConf), table_or_empty(spec[role])
  local pod = copy(table_or_empty(get(own, "template", "spec")))
  local main = "spark-kubernetes-" .. role
  local cores = own.coreRequest or conf["spark.kubernetes." .. role .. ".request.cores"] or own.cores
    or conf["spark." .. role .. ".cores"] or 1
  local requests = { cpu = quantity_text(cores), memory = string.format("%.0fMi", role_mebibytes(spec, role)) }
  local devices = count(get(own, "gpu", "quantity"), 0, "spec." .. role .. ".gpu.quantity")
  if text_or_nil(get(own, "gpu", "name")) ~= nil and devices > 0 then
    requests[own.gpu.name] = quantity_text(devices)
  end
  name_spark_container(pod, main)
  pod = with_requests(pod, main, requests)
  pod.containers = append_all(pod.containers, own.sidecars)
  pod.initContainers = append_all(pod.initContainers, own.initContainers)
  pod.tolerations = append_all(pod.tolerations, own.tolerations)
  local selector = table_or_empty(pod.nodeSelector)
  add_spark_selectors(selector, conf, "spark.kubernetes.node.selector.")
  add_spark_selectors(selector, conf, "spark.kubernetes." .. role .. ".node.selector.")
  for _, given in ipairs({ table_or_empty(spec.nodeSelector), table_or_empty(own.nodeSelector) }) do
    for key, value in pairs(given) do
      selector[key] = value
    end
  end
  if next(selector) ~= nil then
    pod.nodeSelector = selector
  end
  if own.affinity ~= nil then
    pod.affinity = own.affinity
  end
  pod.priorityClassName = text_or_nil(own.priorityClassName) or pod.priorityClassName
  return { spec = pod }
end

-- Executors at the start. Dynamic allocation starts with the largest of its minimum, its initial number and instances.
function executor_count(spec)
  local conf, dynamic = table_or_empty(spec.sparkConf), table_or_empty(spec.dynamicAllocation)
  local instances = get(spec, "executor", "instances") or conf["spark.executor.instances"]
  if dynamic.enabled ~= true then
    instances = count(instances, 1, "spec.executor.instances")
    if tostring(conf["spark.dynamicAllocation.enabled"]) ~= "true" then
      return instances
    end
  end
  local prefix = "spark.dynamicAllocation."
  return math.max(
    count(instances, 0, "spec.executor.instances"),
    count(dynamic.minExecutors or conf[prefix .. "minExecutors"], 0, prefix .. "minExecutors"),
    count(dynamic.initialExecutors or conf[prefix .. "initialExecutors"], 0, prefix .. "initialExecutors")
  )
end

function spark_components(spec)
  local components = {}
  add_component(components, "driver", 1, pod_requirements(spark_pod(spec, "driver")))
  add_component(components, "executor", executor_count(spec), pod_requirements(spark_pod(spec, "executor")))
  return components
end

-- What the application refers to: by its own fields and by those of its pods.
function spark_dependencies(object, spec)
  local namespace = get(object, "metadata", "namespace")
  local found = {}
  add_dependency(found, "ConfigMap", spec.sparkConfigMap, namespace)
  add_dependency(found, "ConfigMap", spec.hadoopConfigMap, namespace)
  for _, secret in ipairs(table_or_empty(spec.imagePullSecrets)) do
    add_dependency(found, "Secret", secret, namespace)
  end
  for _, role in ipairs({ "driver", "executor" }) do
    local own = table_or_empty(spec[role])
    add_dependency(found, "ServiceAccount", own.serviceAccount, namespace)
    for _, item in ipairs(table_or_empty(own.configMaps)) do
      add_dependency(found, "ConfigMap", get(item, "name"), namespace)
    end
    for _, item in ipairs(table_or_empty(own.secrets)) do
      add_dependency(found, "Secret", get(item, "name"), namespace)
    end
    for _, item in pairs(table_or_empty(own.envSecretKeyRefs)) do
      add_dependency(found, "Secret", get(item, "name"), namespace)
    end
    local main = { name = "main", env = own.env, envFrom = own.envFrom }
    local containers = append_all({ main }, own.sidecars)
    add_pod_dependencies(found, { spec = { containers = containers, initContainers = own.initContainers } }, namespace)
    add_pod_dependencies(found, own.template, namespace)
  end
  add_pod_dependencies(found, { spec = { volumes = spec.volumes } }, namespace)
  return sorted_dependencies(found)
end
