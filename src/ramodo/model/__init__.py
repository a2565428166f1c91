"""What a fit leaves behind: a score that is a sum of terms (terms.py), and its file (file/)."""
