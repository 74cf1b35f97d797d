"""Lets a program of ours start another one: python -P -m thiessen.cli COMMAND."""

from thiessen.cli.main import main

main()
