"""The nouns and rules of resource interpretation. Pure: no sockets, files, clock or logging."""
