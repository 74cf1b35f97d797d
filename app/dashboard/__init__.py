"""Pages for people: summaries (numbers), then templates."""
