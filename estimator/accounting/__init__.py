"""Who is charged for what: usage of bindings, quotas, the ledger, admission and the audit."""
