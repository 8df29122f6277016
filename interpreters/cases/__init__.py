"""The test tables of scripts, ours and Karmada's, read into one noun and run.

`interp test`, pytest and lint all use this.
"""

from interpreters.cases.model import Case, Result, Verdict
from interpreters.cases.run import case_request, reply_fields, run_case, served_as, within_cost
from interpreters.cases.tables import CASE_SCHEMA, case_files, is_case_file, read_cases, scripts_folder

__all__ = [
    "CASE_SCHEMA",
    "Case",
    "Result",
    "Verdict",
    "case_files",
    "case_request",
    "is_case_file",
    "read_cases",
    "reply_fields",
    "run_case",
    "scripts_folder",
    "served_as",
    "within_cost",
]
