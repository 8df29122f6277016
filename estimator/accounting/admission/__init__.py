"""Admission by quota: one request, one decision, and what Karmada was seen to ask."""
