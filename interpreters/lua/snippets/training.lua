-- Training jobs that name their pods by role: a map of replica specs, each with a template and a number of replicas.
-- include: snippets/pods.lua
-- include: snippets/components.lua
-- include: snippets/dependencies.lua
-- include: snippets/statuses.lua

local TRAINING_STATUS = { "completionTime", "conditions", "lastReconcileTime", "replicaStatuses", "startTime" }

-- The replica specs in the order of `roles`, found in any case, then roles that the operator does not know by name.
function roles_of(object, field, roles)
  local specs, known, found = table_or_empty(get(object, "spec", field)), {}, {}
  for i, role in ipairs(roles) do
    known[string.lower(role)] = i
  end
  for position = 1, #roles + 1 do
    for _, key in ipairs(sorted_keys(specs)) do
      if (known[string.lower(key)] or #roles + 1) == position and type(specs[key]) == "table" then
        found[#found + 1] = { role = roles[position] or key, spec = specs[key] }
      end
    end
  end
  return found
end

-- A template with the init container that the operator puts before all others.
function with_init_container(template, requests)
  local pod = requiring_fields(table_or_empty(get(template, "spec")))
  pod.initContainers = shallow(pod.initContainers)
  pod.initContainers[#pod.initContainers + 1] = { name = "added-by-operator", resources = { requests = requests } }
  return { spec = pod }
end

-- One component per role, named in lower case, one pod unless it says otherwise.
function role_components(object, field, roles)
  local components = {}
  for _, entry in ipairs(roles_of(object, field, roles)) do
    local replicas = count(entry.spec.replicas, 1, field .. "." .. entry.role .. ".replicas")
    add_component(components, string.lower(entry.role), replicas, pod_requirements(entry.spec.template))
  end
  return components
end

function role_dependencies(object, field, roles)
  local templates = {}
  for _, entry in ipairs(roles_of(object, field, roles)) do
    templates[#templates + 1] = table_or_empty(entry.spec.template)
  end
  return dependencies_of_templates(object, templates)
end

-- Known to its operator and not failed.
function training_is_healthy(object)
  return #table_or_empty(get(object, "status", "conditions")) > 0 and not holds(object, "Failed")
end

function reflect_training(object)
  return reflect(object, TRAINING_STATUS)
end

function aggregate_training(object, items)
  return aggregate(object, items, {
    completionTime = "finished", conditions = "conditions", lastReconcileTime = "latest", replicaStatuses = "tree",
    startTime = "earliest",
  })
end
