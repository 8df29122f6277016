"""Every kind that interp serves, under every policy, before a real Karmada, judged against Karmada alone."""
