-- Nodes of a training job whose pod templates live in another object, the training runtime.
--
-- Division: whole
--
-- Counted:
-- - `node`: a lower bound. trainer.numNodes, 1 by default, with trainer.resourcesPerNode and what the job's own
--   patches say of node selectors, tolerations and affinity.
-- - `dataset-initializer` and `model-initializer`: 1 each where the job names one; they run before the nodes.
-- - A suspended job counts its size once it is resumed.
-- Not counted:
-- - Everything that only the runtime says: its number of nodes, its templates and their resources, an MPI launcher.
-- Sources:
-- - trainer: pkg/runtime/core/trainingruntime.go, pkg/runtime/framework/plugins,
--   pkg/apis/trainer/v1alpha1/trainjob_types.go
-- include: snippets/pods.lua
-- include: snippets/components.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua
-- include: snippets/templates.lua

-- The spec that a list of patches makes for pods of one job. Later patches win.
function patched_pod(object, job)
  local pod = {}
  for _, patch in ipairs(table_or_empty(get(object, "spec", "podTemplateOverrides"))) do
    for _, target in ipairs(table_or_empty(get(patch, "targetJobs"))) do
      if get(target, "name") == job then
        pod = merged(pod, table_or_empty(patch.spec), true)
      end
    end
  end
  for _, patch in ipairs(table_or_empty(get(object, "spec", "runtimePatches"))) do
    local jobs = get(patch, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for _, replicated in ipairs(table_or_empty(jobs)) do
      if get(replicated, "name") == job then
        pod = merged(pod, table_or_empty(get(replicated, "template", "spec", "template", "spec")), true)
      end
    end
  end
  return pod
end

function node_pod(object)
  local pod = patched_pod(object, "node")
  local resources = get(object, "spec", "trainer", "resourcesPerNode")
  if type(resources) == "table" then
    return with_requests(pod, "node", container_requests({ resources = resources }))
  end
  return pod
end

function GetComponents(object)
  local components = {}
  local nodes = count(get(object, "spec", "trainer", "numNodes"), 1, "spec.trainer.numNodes")
  add_component(components, "node", nodes, pod_requirements({ spec = node_pod(object) }))
  for _, kind in ipairs({ "dataset", "model" }) do
    if get(object, "spec", "initializer", kind) ~= nil then
      local job = kind .. "-initializer"
      add_component(components, job, 1, pod_requirements({ spec = patched_pod(object, job) }))
    end
  end
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

-- Known to its controller and not failed.
function InterpretHealth(object)
  local known = get(object, "status", "conditions") or get(object, "status", "jobsStatus")
  return #table_or_empty(known) > 0 and not holds(object, "Failed")
end

function ReflectStatus(object)
  return reflect(object, { "conditions", "jobsStatus" })
end

-- The counters of every job, added up by name.
function AggregateStatus(object, items)
  return aggregate(object, items, { conditions = "conditions" }, function(reports)
    local sums, jobs = {}, {}
    for _, report in ipairs(reports) do
      for _, job in ipairs(table_or_empty(report.status.jobsStatus)) do
        local name = tostring(job.name)
        if sums[name] == nil then
          sums[name] = {}
          jobs[#jobs + 1] = sums[name]
        end
        add_tree(sums[name], job)
      end
    end
    return { jobsStatus = jobs }
  end)
end

-- The runtime, where it lives in the job's namespace, the initializers' secrets, and what the patches refer to.
function GetDependencies(object)
  local namespace = get(object, "metadata", "namespace")
  local trainer = table_or_empty(get(object, "spec", "trainer"))
  local own_container = { name = "node", env = trainer.env }
  local templates = { { spec = patched_pod(object, "node") }, { spec = { containers = { own_container } } } }
  local initializer = table_or_empty(get(object, "spec", "initializer"))
  for _, kind in ipairs({ "dataset", "model" }) do
    local own = table_or_empty(initializer[kind])
    templates[#templates + 1] = { spec = patched_pod(object, kind .. "-initializer") }
    templates[#templates + 1] = { spec = { containers = { { name = kind, env = own.env } } } }
  end
  local found = dependencies_of_templates(object, templates)
  for _, kind in ipairs({ "dataset", "model" }) do
    add_dependency(found, "Secret", get(initializer, kind, "secretRef", "name"), namespace)
  end
  sorted_dependencies(found)
  local runtime = table_or_empty(get(object, "spec", "runtimeRef"))
  if text_or_nil(runtime.name) ~= nil then
    local kind = text_or_nil(runtime.kind) or "ClusterTrainingRuntime"
    local home = kind == "TrainingRuntime" and namespace or nil
    local version = "trainer.kubeflow.org/v1alpha1"
    found[#found + 1] = { apiVersion = version, kind = kind, namespace = home, name = runtime.name }
  end
  return found
end
