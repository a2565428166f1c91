"""The data flow of a fit: training, and learning from labels."""
