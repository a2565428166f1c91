"""The data flow of a fit.

flow.py               ranking, candidates, triplets, training, references, scores, threshold
training.py           the training loop over drawn triplets
label_direction.py    what labelled outliers teach the final score
label_means.py        how their means differ from those of the others
label_regression.py   a logistic regression of them against the others
"""
