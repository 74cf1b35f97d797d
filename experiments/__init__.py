"""The experiments of the papers and theses that this project stands on, to be run again."""
