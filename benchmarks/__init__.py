"""Figures against the budgets of docs/design.md. Each module has `run()`, which yields rows of one table.

A row is (what, value, unit, budget or None); a budget is the most that is allowed, or the least for rates (`/s`).
"""
