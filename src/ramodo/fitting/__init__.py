"""The data flow of a fit: training, and what labels teach."""
