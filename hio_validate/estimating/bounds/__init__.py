"""The lower bound of one unit of a path: its passes, their terms, what each unit costs, and how they overlap (contract 9.2, 9.3)."""
