"""The ledger: what is charged to whom, on SQLite or PostgreSQL, and how a charge changes."""
