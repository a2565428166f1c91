"""The data flow of a fit.

flow.py               ranking, candidates, triplets, training, references, scores, threshold
training.py           the training loop over drawn triplets
label_direction.py    what labelled outliers teach the final score
"""
