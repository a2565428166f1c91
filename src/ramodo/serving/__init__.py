"""Score rows with a saved model, in jobs that pass Arrow tables and behind HTTP.

    model = SavedModel("visits.ramodo")
    model.score(batch)                     # a table; returns score, percentile and flag
    model.score_rows([{"country": "NZ", "pages": 3}], reasons=3)

model_rows.py says which rows a model accepts. json_rows.py and arrow_rows.py turn them into a table in the way files
are read, so that a row gets the same bits as from `ramodo score`. routes.py is the server of `ramodo serve`, behind the
layers of `ramodo.web`.
"""

from __future__ import annotations

from .saved_model import SavedModel

__all__ = ["SavedModel"]
