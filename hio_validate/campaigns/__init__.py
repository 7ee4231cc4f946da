"""Campaigns before they run: begun for a person, and what each cell of one would do on this host (contract 10.1, 10.3)."""
