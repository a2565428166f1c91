"""RAMODO as the paper writes it: dense, slow, in double precision, one formula after the other.

The kernels must equal it. Nothing here is clever on purpose.

    distances.py   Sp (eq. 1)
    candidates.py  Cantelli's threshold (eq. 2)
    layer.py       the weights that the seed gives, and f(x) = ψ(x W) (eq. 5)
    hinge.py       the ranking loss and its gradient (eq. 8)
    documents.py   what tokens of text weigh, which is not the paper's
    training.py    ADADELTA and the loop over given triplets (algorithm 1, steps 4 to 13)
"""

from .candidates import cantelli_line
from .distances import sp_scores
from .documents import document_frequencies, weighed
from .hinge import hinge_gradient, hinge_loss, rows_gradient, rows_loss
from .layer import activate, derivative, forward, initial_weights
from .training import Adadelta, batches, train

__all__ = [
    "Adadelta",
    "activate",
    "batches",
    "cantelli_line",
    "derivative",
    "document_frequencies",
    "forward",
    "hinge_gradient",
    "hinge_loss",
    "initial_weights",
    "rows_gradient",
    "rows_loss",
    "sp_scores",
    "train",
    "weighed",
]
