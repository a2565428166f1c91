"""Diagnosis of a fitted detector, the numbers behind figures, and what cut-offs guarantee."""
