-- The driver pod and the executor pods of a Spark application.
--
-- Division: whole
-- Corrects: InterpretComponent: leaves out coreRequest, sidecars, templates and sparkConf
--
-- Counted:
-- - `driver`: 1. `executor`: executor.instances, else spark.executor.instances, else 1; with dynamic allocation the
--   largest of minimum, initial number and instances, which may be 0.
-- - Memory: heap plus overhead in MiB by Spark's rules and units (no unit is MiB): the overhead as given, else 0.1 of
--   the heap (0.4 if the main file is Python or R) and at least 384 MiB; executors add off-heap and PySpark memory.
-- - Cpu: coreRequest, else cores, else 1. The spec wins over sparkConf.
-- - gpu, sidecars, init containers, templates, node selectors (spec, role and sparkConf), tolerations, affinity and
--   priority class.
-- - A suspended application counts its size once it is resumed.
-- Not counted:
-- - Executors that dynamic allocation asks for later.
-- - memoryLimit and coreLimit: they change limits only.
-- Sources:
-- - spark-operator: api/v1beta2/defaults.go, internal/controller/sparkapplication/submission.go,
--   internal/webhook/sparkpod_defaulter.go
-- - spark: BasicDriverFeatureStep.scala, BasicExecutorFeatureStep.scala, ResourceProfile.scala, JavaUtils.java,
--   Utils.scala
-- include: snippets/spark.lua
-- include: snippets/statuses.lua

local STATUS_FIELDS = {
  "applicationState", "driverInfo", "executionAttempts", "executorState", "lastSubmissionAttemptTime",
  "sparkApplicationId", "submissionAttempts", "submissionID", "terminationTime",
}

local STATE_RANK = {
  UNKNOWN = 0, COMPLETED = 1, SUCCEEDING = 2, RUNNING = 3, SUBMITTED = 4, RESUMING = 4, PENDING_RERUN = 4,
  SUSPENDING = 5, SUSPENDED = 5, INVALIDATING = 6, FAILING = 7, SUBMISSION_FAILED = 8, FAILED = 9,
}

function GetComponents(object)
  return spark_components(table_or_empty(get(object, "spec")))
end

function GetReplicas(object)
  return one_view(GetComponents(object), get(object, "metadata", "namespace"))
end

function ReviseReplica(object, replicas)
  return object
end

-- Any state but FAILED: the operator itself goes on from all others. A new application has the empty state.
function InterpretHealth(object)
  local state = get(object, "status", "applicationState", "state")
  return state ~= nil and state ~= "FAILED"
end

function ReflectStatus(object)
  return reflect(object, STATUS_FIELDS)
end

function AggregateStatus(object, items)
  local ways = {
    executionAttempts = "sum", executorState = "tree", lastSubmissionAttemptTime = "latest", submissionAttempts = "sum",
    terminationTime = "finished",
  }
  return aggregate(object, items, ways, function(reports)
    local worst = worst_report(reports, function(status)
      return STATE_RANK[get(status, "applicationState", "state")]
    end)
    return reflect(worst, { "applicationState", "driverInfo", "sparkApplicationId", "submissionID" })
  end)
end

function GetDependencies(object)
  return spark_dependencies(object, table_or_empty(get(object, "spec")))
end
