"""Fair comparison: what is searched for it, and what can be said of what was found."""
