"""Where accounting reads from: large files, quota files, a live Karmada."""
