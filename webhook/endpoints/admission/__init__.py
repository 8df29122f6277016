"""POST /admit and what keeps its ledger true: reviews, dry runs, reconciling and samples."""
