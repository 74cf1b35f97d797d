"""The server of Thiessen."""
