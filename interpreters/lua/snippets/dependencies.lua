-- Objects that pods refer to by name: they must be propagated along.
-- include: snippets/fields.lua
local kube = require("kube")

-- The fields of a pod that can name another object.
local REFERENCES = { "containers", "imagePullSecrets", "initContainers", "serviceAccountName", "volumes" }

-- Adds a reference once. The service account `default` exists everywhere, so nobody has to bring it along.
function add_dependency(found, kind, name, namespace)
  if text_or_nil(name) == nil or (kind == "ServiceAccount" and name == "default") then
    return
  end
  for _, dependency in ipairs(found) do
    if dependency.kind == kind and dependency.name == name then
      return
    end
  end
  found[#found + 1] = { apiVersion = "v1", kind = kind, namespace = namespace, name = name }
end

-- Adds what a pod template refers to: config maps, secrets, claims and its service account.
function add_pod_dependencies(found, template, namespace)
  local references = {}
  for _, field in ipairs(REFERENCES) do
    references[field] = get(template, "spec", field)
  end
  if next(references) == nil then
    return
  end
  for _, dependency in ipairs(table_or_empty(kube.getPodDependencies({ spec = references }, namespace))) do
    add_dependency(found, dependency.kind, dependency.name, dependency.namespace)
  end
end

function sorted_dependencies(found)
  table.sort(found, function(a, b)
    if a.kind ~= b.kind then
      return a.kind < b.kind
    end
    return a.name < b.name
  end)
  return found
end

-- Everything that a list of pod templates refers to.
function dependencies_of_templates(object, templates)
  local namespace = get(object, "metadata", "namespace")
  local found = {}
  for _, template in ipairs(templates) do
    add_pod_dependencies(found, template, namespace)
  end
  return sorted_dependencies(found)
end
