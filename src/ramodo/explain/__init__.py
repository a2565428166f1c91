"""Why this row: contributions that sum to the score, and their names."""
