"""The data flow of a fit.

repen.py              one learned distance, or the mean of several
consensus.py          several views, whose evidence is added up
learn_distance.py     candidates, triplets, training, references, scores
flow.py               what these have in common: what is found, what labels add
training.py           the training loop over drawn triplets
label_direction.py    what labelled outliers teach the final score
label_means.py        how their means differ from those of the others
label_regression.py   a logistic regression of them against the others
"""
