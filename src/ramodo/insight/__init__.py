"""Diagnosis of a fitted detector, the numbers behind figures, and what a cut-off guarantees."""
