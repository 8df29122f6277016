-- Pods of a Kubernetes Job spec.
-- include: snippets/fields.lua

-- Pods that run at once: parallelism (1 by default), and never more than there are completions.
function job_pods(job)
  local parallelism = count(get(job, "parallelism"), 1, "parallelism")
  return math.min(parallelism, count(get(job, "completions"), parallelism, "completions"))
end
