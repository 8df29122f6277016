"""The history of quotas: sampled, kept by the hour and by the day, read back, and drawn into the future."""
