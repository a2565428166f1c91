"""A scikit-learn transformer that reads data frames the way the command reads files."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .constraints import either
from .data.validation import DataError
from .formats import Schema, Table, TextOptions, frames
from .formats.schema import MISSING, SCALES
from .options import option_error


class TableReader(TransformerMixin, BaseEstimator):
    """Turns the columns of a data frame into features, as the command does with those of a file.

    A number becomes one scaled feature, a category one feature for each of its values, a date its days, hour and day of
    the week, a list one feature for each position, and a document its tokens. Unless all columns are numbers, detectors
    read frames in this way by themselves. Use a reader for other options, or for numbers on very different scales:

        rows = TableReader(text=["note"], id="ticket").fit_read(frame)
        detector = Consensus().fit(rows)

    The detector then reads other frames in the same way, and saves how.

    Parameters
    ----------
    text : str or list of str, default ()
        Columns of documents.
    id : str, optional
        Column that names rows; by default the index of a pandas frame.
    ignore : str or list of str, default ()
        Columns to leave out.
    scale : 'auto', 'none', 'standard', 'robust' or 'log', default 'auto'
        How to scale numbers.
    missing : 'error', 'zero', 'mean' or 'indicator', default 'indicator'
        What missing values become: 'indicator' is 0 and a feature that says so.
    top_variable : int, optional
        How many columns of numbers to keep, those that vary most; 0 for all. By default 2000 where columns are genes.
    within : str, optional
        Column of batches: numbers are moved as if all batches had one mean.
    idf : bool, default True
        Whether to weight tokens, rare ones most; otherwise they are counted.
    vocabulary : bool, default False
        Whether each token gets a feature and a name; otherwise tokens are hashed to `2**bits` features.
    words, characters : (int, int), default (1, 1) and (3, 5)
        n-grams of words and of characters, from and to; (0, 0) for none.
    bits : int, default 22
        Features of hashed tokens, as a power of 2.
    n_jobs : int, default 1
        Threads for tokens.

    Attributes
    ----------
    schema_ : how each column is read
    document_frequencies_ : document frequencies for weighting tokens; None if there are none

    Examples
    --------
    >>> import pandas as pd
    >>> from ramodo import TableReader
    >>> frame = pd.DataFrame({"country": ["NZ", "FR", "NZ"], "seconds": [3.0, 4.0, None]})
    >>> reader = TableReader(scale="none").fit(frame)
    >>> reader.get_feature_names_out().tolist()
    ['country=FR', 'country=NZ', 'seconds', 'seconds is missing']
    """

    def __init__(
        self,
        text: str | list[str] | tuple[str, ...] = (),
        *,
        id: str | None = None,
        ignore: str | list[str] | tuple[str, ...] = (),
        scale: str = "auto",
        missing: str = "indicator",
        top_variable: int | None = None,
        within: str | None = None,
        idf: bool = True,
        vocabulary: bool = False,
        words: tuple[int, int] = (1, 1),
        characters: tuple[int, int] = (3, 5),
        bits: int = 22,
        n_jobs: int = 1,
    ) -> None:
        self.text = text
        self.id = id
        self.ignore = ignore
        self.scale = scale
        self.missing = missing
        self.top_variable = top_variable
        self.within = within
        self.idf = idf
        self.vocabulary = vocabulary
        self.words = words
        self.characters = characters
        self.bits = bits
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how the columns of a frame become features."""
        self.fit_read(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn the features from a frame and return them."""
        return self.fit_read(X).X

    def transform(self, X: Any) -> Any:
        """Return the features of other rows: a CSR array if there are categories or text, else a dense one."""
        return self.read(X).X

    def fit_read(self, X: Any) -> Table:
        """Do the same as `fit_transform`, but return rows for a detector's `fit`, with ids, documents and schema."""
        found = frames.read(_checked(X), self._asked(), n_threads=self.n_jobs)
        self.schema_, self.document_frequencies_ = found.schema, found.frequencies
        self.n_features_in_ = found.X.shape[1]
        return found

    def read(self, X: Any) -> Table:
        """Return other rows for a detector, read in the learned way."""
        check_is_fitted(self, "schema_")
        return frames.read(_checked(X), self.schema_, self.document_frequencies_, n_threads=self.n_jobs)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the features; hashed tokens have numbers as names."""
        check_is_fitted(self, "schema_")
        first = self.schema_.first_named
        return np.array([*(f"token {i}" for i in range(first)), *(self.schema_.names or ())], dtype=object)

    def _asked(self) -> Schema:
        for name, allowed in (("scale", SCALES), ("missing", MISSING)):
            if getattr(self, name) not in allowed:
                raise option_error(name, either(tuple(map(repr, allowed))), repr(getattr(self, name)))
        tokens = TextOptions(self.words, self.characters, self.bits, self.vocabulary, self.idf)
        if not tokens.is_sound or not (tokens.words[1] or tokens.characters[1]):
            raise option_error(
                "words, characters and bits", "ranges up to 16, one of them not (0, 0), and 1 to 48", repr(tokens)
            )
        most = self.top_variable
        if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 0):
            raise option_error("top_variable", "a whole number from 0, or None", repr(most))
        text, ignore = ((one,) if isinstance(one, str) else tuple(one) for one in (self.text, self.ignore))
        return Schema(
            id=self.id,
            text=text,
            ignore=ignore,
            missing=self.missing,
            scale=self.scale,
            top_variable=None if most is None else int(most),
            within=self.within,
            tokens=tokens,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags


def _checked(X: Any) -> Any:
    if frames.is_frame(X):
        return X
    raise DataError(
        f"X must be a data frame, whose columns have names, got {type(X).__name__}. An array needs no reader."
    )
