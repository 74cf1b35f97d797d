"""Workers on many machines at once, started and ended as there is work."""
