"""Making, checking and rotating the certificates that the webhook serves with."""
