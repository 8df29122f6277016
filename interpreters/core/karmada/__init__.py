"""What is Karmada's: names of its API, its releases, and what it answers without any webhook."""
