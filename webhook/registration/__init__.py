"""What is registered with Karmada: the rules, their proof, what they mean for people, and the object that says it."""
