"""A trial's life, one file per step. Each step is one function; what it answers has been committed."""
