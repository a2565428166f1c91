"""The result of a fit: a score that is a sum of terms (terms.py), and its file (file/)."""
