"""The HTTPS service that Karmada and auditors call."""
