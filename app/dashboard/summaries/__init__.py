"""What pages show, as numbers: a file and a frozen dataclass for each page."""
