"""One module per endpoint, and what endpoints share."""
