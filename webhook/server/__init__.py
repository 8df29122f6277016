"""The HTTPS server around the endpoints: settings, sockets, TLS, bodies, logs, metrics and reloads."""
