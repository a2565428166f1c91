"""The data flow of a fit.

repen.py              one learned distance, or the mean of several
consensus.py          several views, whose evidence is added up
learn_distance.py     candidates, triplets, training, references, scores
flow.py               the steps that these share: results of a fit, adding labels
training.py           the training loop over drawn triplets
label_direction.py    how labelled outliers change the final score
label_means.py        the difference between their means and those of the others
label_regression.py   a logistic regression of them against the others
"""
