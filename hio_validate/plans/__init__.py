"""Plans and fixtures begun for a person: what the documents say is filled in, what only a person can say stands as TODO."""
