"""What measurements say: raw rows, recomputed numbers, and whether two arms differ in one setting only."""
