-- Pods of an Argo Workflow: bounds, because the steps decide while they run.
--
-- Division: karmada
--
-- Counted:
-- - `main`: how many pods the entrypoint can run at once: a leaf is one pod, steps of one group and all tasks of a
--   DAG run side by side, withItems and withSequence multiply, and spec.parallelism is the ceiling. What cannot be
--   seen from the object counts once: withParam, recursion, templates of other objects (templateRef,
--   workflowTemplateRef).
-- - The largest request per resource among the leaf templates, as one pod's need.
-- - A suspended workflow counts the same.
-- Not counted:
-- - `when` conditions (all steps count), retries, exit handlers, and the executor's own containers, whose size is the
--   controller's setting.
-- Sources:
-- - argo-workflows: pkg/apis/workflow/v1alpha1/workflow_types.go, workflow/controller/workflowpod.go
-- include: snippets/replicated.lua
-- include: snippets/statuses.lua

local LEAVES = { "container", "containerSet", "script", "resource", "data", "http", "plugin" }

function templates_by_name(object)
  local templates = {}
  for _, template in ipairs(table_or_empty(get(object, "spec", "templates"))) do
    templates[tostring(get(template, "name"))] = template
  end
  return templates
end

-- Copies of a step that a list or a sequence makes; an argument known only at run time makes one.
function fan_out(step)
  if type(step.withItems) == "table" then
    return #step.withItems
  end
  local sequence = table_or_empty(step.withSequence)
  local first, last = tonumber(sequence.start) or 0, tonumber(sequence["end"])
  if tonumber(sequence.count) ~= nil then
    return math.max(tonumber(sequence.count), 0)
  elseif last ~= nil then
    return math.abs(last - first) + 1
  end
  return 1
end

-- Pods that a template can run at once. `path` holds the templates above it: recursion counts once.
function width(template, templates, path)
  if type(template) ~= "table" or path[template] then
    return 1
  end
  path[template] = true
  local widest = nil
  for _, group in ipairs(table_or_empty(template.steps)) do
    local sum = 0
    for _, step in ipairs(table_or_empty(group)) do
      sum = sum + fan_out(step) * width(step.inline or templates[tostring(step.template)], templates, path)
    end
    widest = math.max(widest or 0, sum)
  end
  for _, task in ipairs(table_or_empty(get(template, "dag", "tasks"))) do
    widest = (widest or 0) + fan_out(task) * width(task.inline or templates[tostring(task.template)], templates, path)
  end
  path[template] = nil
  if template.suspend ~= nil then
    return 0
  end
  local own = tonumber(template.parallelism)
  if widest ~= nil and own ~= nil and own > 0 then
    widest = math.min(widest, own)
  end
  return widest or 1
end

function is_leaf(template)
  for _, field in ipairs(LEAVES) do
    if template[field] ~= nil then
      return true
    end
  end
  return false
end

-- The pod of a leaf: what a template does not say of nodes and priority, the workflow says.
function leaf_pod(template, spec)
  local containers = {}
  for _, container in ipairs({ table_or_empty(template.container), table_or_empty(template.script) }) do
    containers[#containers + 1] = { resources = container.resources }
  end
  for _, container in ipairs(table_or_empty(get(template, "containerSet", "containers"))) do
    containers[#containers + 1] = { resources = get(container, "resources") }
  end
  for _, container in ipairs(table_or_empty(template.sidecars)) do
    containers[#containers + 1] = { resources = get(container, "resources") }
  end
  return {
    containers = containers,
    initContainers = template.initContainers,
    nodeSelector = template.nodeSelector or spec.nodeSelector,
    tolerations = template.tolerations or spec.tolerations,
    affinity = template.affinity or spec.affinity,
    priorityClassName = template.priorityClassName or spec.podPriorityClassName,
  }
end

-- The need of one pod: the view over all leaves, or what the workflow says of every pod.
function leaf_requirements(object)
  local spec = table_or_empty(get(object, "spec"))
  local leaves = {}
  for i, template in ipairs(table_or_empty(spec.templates)) do
    if is_leaf(template) then
      add_component(leaves, "leaf-" .. i, 1, pod_requirements({ spec = leaf_pod(template, spec) }))
    end
  end
  if leaves[1] == nil then
    return pod_requirements({ spec = leaf_pod({}, spec) })
  end
  local _, requirements = one_view(leaves)
  return requirements
end

function GetComponents(object)
  local templates = templates_by_name(object)
  local entrypoint = templates[tostring(get(object, "spec", "entrypoint"))]
  local pods = width(entrypoint, templates, {})
  local most = count(get(object, "spec", "parallelism"), 0, "spec.parallelism")
  if most > 0 then
    pods = entrypoint and math.min(pods, most) or most
  end
  local components = {}
  add_component(components, "main", pods, leaf_requirements(object))
  return components
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

-- A share of the pods is a lower ceiling.
function ReviseReplica(object, replicas)
  return write_share(object, replicas, "parallelism")
end

-- The member cluster suspends and resumes, and keeps the progress in the status.
function Retain(desired, observed)
  local suspend = get(observed, "spec", "suspend")
  if suspend ~= nil then
    desired.spec = table_or_empty(desired.spec)
    desired.spec.suspend = suspend
  end
  desired.status = get(observed, "status") or desired.status
  return desired
end

function InterpretHealth(object)
  local phase = text_or_nil(get(object, "status", "phase"))
  return phase ~= nil and phase ~= "Error" and phase ~= "Failed"
end

function ReflectStatus(object)
  return reflect(object, { "conditions", "finishedAt", "message", "phase", "progress", "startedAt" })
end

function AggregateStatus(object, items)
  local ways = { conditions = "conditions", finishedAt = "finished", startedAt = "earliest" }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return ({ Succeeded = 1, Running = 2, Pending = 3, Failed = 4, Error = 5 })[status.phase]
    end)
    return reflect(worst, { "message", "phase", "progress" })
  end)
end

-- What the pods of all templates refer to, and the accounts they run under.
function GetDependencies(object)
  local spec = table_or_empty(get(object, "spec"))
  local namespace = get(object, "metadata", "namespace")
  local templates = { { spec = { volumes = spec.volumes, imagePullSecrets = spec.imagePullSecrets } } }
  local found = {}
  add_dependency(found, "ServiceAccount", spec.serviceAccountName, namespace)
  add_dependency(found, "ServiceAccount", get(spec, "executor", "serviceAccountName"), namespace)
  for _, template in ipairs(table_or_empty(spec.templates)) do
    local containers = {}
    for _, container in ipairs({ table_or_empty(template.container), table_or_empty(template.script) }) do
      containers[#containers + 1] = { name = "main", env = container.env, envFrom = container.envFrom }
    end
    templates[#templates + 1] = { spec = { containers = containers, volumes = template.volumes } }
    templates[#templates + 1] = { spec = { containers = template.sidecars, initContainers = template.initContainers } }
    add_dependency(found, "ServiceAccount", template.serviceAccountName, namespace)
    add_dependency(found, "ServiceAccount", get(template, "executor", "serviceAccountName"), namespace)
  end
  for _, template in ipairs(templates) do
    add_pod_dependencies(found, template, namespace)
  end
  return sorted_dependencies(found)
end
