"""JSON over HTTP: parse, take one step, serialise."""
