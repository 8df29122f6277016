"""The audit: bindings or charges added up, compared with quotas, and the report of it."""
