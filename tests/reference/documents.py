"""What tokens weigh by the number of training documents that have them."""

import math

import numpy as np


def document_frequencies(counts):
    """Documents that have each column, of a dense matrix of counts."""
    return [sum(1 for row in counts if row[column]) for column in range(counts.shape[1])]


def weighed(counts, documents, n_documents):
    """Each count as a value."""
    values = np.zeros(counts.shape)
    for row, column in zip(*np.nonzero(counts), strict=True):
        inverse = math.log((1 + n_documents) / (1 + documents[column])) + 1
        values[row, column] = (1 + math.log(counts[row, column])) * inverse
    return values
