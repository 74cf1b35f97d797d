"""The words of the server and their rules: frozen, and knowing nothing of databases or HTTP."""
