-- The pods of one run of a scheduled Spark application.
--
-- Division: whole
--
-- Counted:
-- - `driver` and `executor` of spec.template, by the rules of SparkApplication, for one run. A suspended schedule
--   counts the same.
-- Not counted:
-- - Runs that overlap (concurrencyPolicy Allow), and that there are no pods between runs.
-- Sources:
-- - spark-operator: api/v1beta2/scheduledsparkapplication_types.go, internal/controller/scheduledsparkapplication
-- include: snippets/spark.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = {
  "lastRun", "lastRunName", "nextRun", "pastFailedRunNames", "pastSuccessfulRunNames", "reason", "scheduleState",
}

function GetComponents(object)
  return spark_components(table_or_empty(get(object, "spec", "template")))
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

-- The operator accepted the schedule, or has only just seen it.
function InterpretHealth(object)
  local state = text_or_nil(get(object, "status", "scheduleState"))
  return state == "Scheduled" or state == "New" or state == "Validating"
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

function AggregateStatus(object, items)
  local ways = {
    lastRun = "latest", nextRun = "earliest", pastFailedRunNames = "list", pastSuccessfulRunNames = "list",
  }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return ({ Scheduled = 1, Validating = 2, New = 2, FailedValidation = 3 })[status.scheduleState]
    end)
    return reflect(worst, { "lastRunName", "reason", "scheduleState" })
  end)
end

function GetDependencies(object)
  return spark_dependencies(object, table_or_empty(get(object, "spec", "template")))
end
