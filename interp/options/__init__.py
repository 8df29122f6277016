"""Options that several verbs have, and what shells complete in them."""
