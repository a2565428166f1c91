"""What a fit leaves behind, and a row's score from it."""
