"""RAMODO, the estimator over replaceable stages (section 3 of the paper). No maths lives here.

`RandomDistanceDetector` is the common part of all instances: scikit-learn's methods around `fitting`. An instance
chooses its stages; `RAMODO` takes them from the user.
"""

from __future__ import annotations

import copy
import os
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import _get_feature_names, check_is_fitted

from .data.dask_inputs import OfBlock, as_array
from .data.labels import Labels, read_labels, read_numbers
from .data.rows import Rows
from .data.scaling_advice import warn_of_scales
from .detector import Detector, seed_of
from .explain.contributions import Explainer
from .explain.explanation import Explanation, feature_namer
from .explain.naming import explained, names_of, told
from .fitting import above_chance, flow, repen
from .fitting.folds import fit_by_fold
from .fitting.relabeling import Unlabeled
from .fitting.training_data import Given, TrainingData, open_training_data
from .formats import Table, frames
from .formats.values import named_values
from .insight.diagnosis import Diagnosis, compare_normalizations, diagnose
from .insight.discoveries import PValues
from .insight.drift import Drift, compare
from .model.file import saving as model_file
from .model.fitted import FittedDetector
from .model.profile import Profile
from .model.terms import Model, offset_of
from .model.ties import settled
from .options import TOP, OptionError, check
from .stages.assembling import Stages, assemble, cutoff_of
from .stages.benjamini_hochberg import benjamini_hochberg
from .stages.chance import NEEDS_VIEWS
from .terminal.progress import Progress

_WARM = 10
"""Share of the epochs that a warm start trains."""


class RandomDistanceDetector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Detector, FittedDetector):
    """Learns a representation for a random-distance detector, then detects in it."""

    n_epochs: int
    samples_per_epoch: int | str
    batch_size: int
    normalize: str | None
    n_estimators: int
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    verbose: int
    _has_views = False
    """Whether part of the score comes from views that are not learned."""

    def _stages(self) -> Stages:
        raise TypeError(f"{type(self).__name__} names no stages; use RAMODO or REPEN.")

    # ---- fitting -------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        labels: Any = None,
        labeled_outliers: Any = None,
        labeled_inliers: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn from the rows of `X`.

        Parameters
        ----------
        X : matrix, sparse or dense, or data frame, one row per object; columns that are not numbers are read as by
            `TableReader`. The result of its `fit_read` is also accepted
        y : ignored, as in scikit-learn's outlier detectors
        labels : one label per row, optional: 1 known outlier, -1 known inlier, 0 unknown
        labeled_outliers, labeled_inliers : matrices of further rows, not part of X, whose nature is known
        groups : a group for each row, optional: rows of one group, such as the requests of a scan, provide a single
            reference, and count once in the rarity of features
        """
        check(self.get_params(deep=False))
        stages, progress = self._stages(), Progress(self.verbose)
        if stages.cutoff.by_evidence and not self._has_views:
            raise OptionError(NEEDS_VIEWS)
        seed = np.random.SeedSequence(seed_of(self.random_state))
        table = frames.to_fit(X, self._n_threads())
        names = _get_feature_names(X) if table is None else None
        named = nullcontext() if table is None or table is X else named_values(frames.PLACE, table)
        with progress.stage("check"), named:
            given = _given(X, table, labels, labeled_outliers, labeled_inliers, self._n_threads())
            given = replace(given, groups=groups)
            data = open_training_data(given, stages, self.normalize, seed, self._n_threads())
            if frames.is_frame(X) and (table is None or not table.schema.columns):
                warn_of_scales(data.rows.in_memory(), X.columns)
            facts: dict[str, Any] = {
                "row_lengths_": data.rows.lengths(),
                "row_norms_": np.sqrt(data.rows.squared_norms(self._n_threads())),
            }
        previous = self._previous(data)
        outcome = self._learn_by_fold(stages, data, seed, previous, progress)
        facts["fingerprint_"] = data.rows.fingerprint()
        fitted = {
            **facts,
            **_attributes(outcome, stages, data, progress),
            "stage_seconds_": progress.seconds,
        }
        fitted |= data.rows.learned_attributes()
        progress.say("moved", data.rows.traffic())
        if names is not None:
            fitted["feature_names_in_"] = names
        if table is not None:
            fitted |= table.learned_attributes()
        fitted["provenance_"] = told(fitted["model_"], table, X)
        with progress.stage("profile"):
            of_profile = np.random.SeedSequence(seed.entropy, spawn_key=(2**32 - 2,))
            fitted["profile_"] = Profile.of(data.rows, of_profile, fitted["schema_"], self._n_threads())
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(fitted)  # all at once: an interrupted fit leaves the estimator unchanged
        return self

    def _previous(self, data: TrainingData) -> Model | None:
        """Return the model that a warm start begins with."""
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        same = (
            self.n_features_in_ == data.rows.n_features
            and self.model_.normalize == self.normalize
            and len(self.model_.learned) == self._n_learned(data)
            and max(1, len(self.model_.by_fold)) == self._stages().cutoff.n_folds()
            and self.options_ == self._stages().shape()
        )
        if not same:
            raise OptionError(
                "warm_start=True needs the features of the last fit and the same options of the representation, and "
                "one of them has changed. Fit a new detector, or set warm_start=False."
            )
        return self.model_

    def _n_learned(self, data: TrainingData) -> int:
        """Return the number of representations of a fit."""
        return self.n_estimators * int(self._stages().cutoff.n_folds())

    def _learn_by_fold(
        self,
        stages: Stages,
        data: TrainingData,
        seed: np.random.SeedSequence,
        previous: Model | None,
        progress: Progress,
    ) -> flow.Outcome:
        """Fit one model, or one for each fold if the cut-off needs them, all with the same seed."""

        def learn(data: TrainingData, previous: Model | None) -> flow.Outcome:
            return self._learn(stages, data, np.random.SeedSequence(seed.entropy), previous, progress)

        n_folds = stages.cutoff.n_folds()
        return learn(data, previous) if n_folds == 1 else fit_by_fold(learn, data, n_folds, previous)

    def _learn(
        self,
        stages: Stages,
        data: TrainingData,
        seed: np.random.SeedSequence,
        previous: Model | None,
        progress: Progress,
    ) -> flow.Outcome:
        """Fit a model to the rows and score them."""
        n_rows = data.rows.n_rows
        plan = flow.Plan(
            n_epochs=self.n_epochs if previous is None else max(1, self.n_epochs // _WARM),
            samples_per_epoch=min(n_rows, 5000) if self.samples_per_epoch == "auto" else int(self.samples_per_epoch),
            batch_size=self.batch_size,
            n_estimators=self.n_estimators,
            n_threads=self._n_threads(),
        )
        return repen.fit(stages, plan, data, self.normalize, seed, previous, progress)

    def with_cutoff(self, cutoff: Any) -> Self:
        """This detector with another cut-off, as a new one, in no time: of a fit, a cut-off sees the scores alone.

        cutoff : as for a new detector, with what that guarantees; but 'chance' also looks at the training rows, and
            `Conformal` needs a fit with as many models
        """
        check_is_fitted(self, "outlier_scores_")
        found = copy.copy(self)
        found.cutoff = cutoff
        check(found.get_params(deep=False))
        rule, counts = found._stages().cutoff, self.model_.n_calibration
        if rule.by_evidence or rule.n_folds() > max(1, len(counts)):
            needs = "looks at the rows" if rule.by_evidence else "needs a fit with two models"
            raise OptionError(f"cutoff={cutoff!r} {needs}: fit again with it, or choose a share, TopK or 'cantelli'.")
        scores, calibration = self.outlier_scores_, self.calibration_scores_
        if rule.needs_held_out and len(calibration) == 0:
            raise OptionError(f"cutoff={cutoff!r} needs rows that training did without: fit again with it.")
        folds = PValues.of(self, 1).folds
        given = rule.cutoff_from(scores, calibration) if len(folds) == 1 else rule.cutoff_of_folds(folds)
        threshold = settled(given, scores if len(folds) == 1 else calibration)
        of_cutoff = {"threshold_": threshold, "offset_": offset_of(threshold), "false_positive_bound_": rule.bound()}
        found.__dict__ |= of_cutoff
        return found

    def with_labels(self, X: Any, labels: Any) -> Self:
        """Return a copy of this detector with other labels of the rows of `X`, within seconds, for a labelling loop.

        Distances and representations stay the same; only the part of the score that depends on labels is learned again.
        `fit` with `labels` also lets them shape the representations.
        """
        rows = self.rows_of(X)
        return self.relabeled(self.unlabeled(rows), read_labels(labels, rows.n_rows))

    def unlabeled(self, rows: Rows) -> Unlabeled:
        """Compute what `relabeled` needs, once for any number of labels."""
        if len(self.calibration_scores_):
            raise OptionError(
                "this detector was fitted with a false-discovery rate (Conformal, --fdr), which does not hold for rows "
                "that were labelled. Use another cut-off, such as a share."
            )
        is_training = rows.fingerprint() == self.fingerprint_ and rows.n_rows == len(self.initial_scores_)
        if is_training and not self.model_.has_labels:
            return Unlabeled(rows, self.model_.terms[0], self.outlier_scores_, self.initial_scores_)
        return Unlabeled.of(self.model_, rows, self.initial_scores_ if is_training else None, self._n_threads())

    def relabeled(self, unlabeled: Unlabeled, labels: Labels) -> Self:
        """Do the same as `with_labels`, for the rows that `unlabeled` was called with."""
        model, scores = unlabeled.labeled(labels, seed_of(self.random_state), self._n_threads())
        stages, rows, found = self._stages(), unlabeled.rows, copy.copy(self)
        look = above_chance.look_again(model, rows, self._n_threads())
        threshold = settled(_threshold(stages, model, look, scores, labels, np.empty(0)), scores)
        found.__dict__ |= {
            "model_": model,
            "outlier_scores_": scores,
            "initial_scores_": unlabeled.initial,
            "threshold_": threshold,
            "offset_": offset_of(threshold),
        }
        if rows.n_rows != len(self.row_lengths_) or rows.fingerprint() != self.fingerprint_:
            found.__dict__ |= {
                "row_lengths_": rows.lengths(),
                "row_norms_": np.sqrt(rows.squared_norms(self._n_threads())),
                "candidate_outliers_": np.flatnonzero(labels == 1),
                "fingerprint_": rows.fingerprint(),
            }
        return found

    # ---- using ---------------------------------------------------------------------------------------------------

    def _of_block(self) -> OfBlock:
        return partial(self.model_.score_block, n_threads=self._n_threads())

    def transform(self, X: Any) -> npt.NDArray[np.float32]:
        """Return the representation: one row of numbers per row of X, with those of several models side by side."""
        check_is_fitted(self, "outlier_scores_")
        of_block = partial(self.model_.transform_block, n_threads=self._n_threads())
        return self._of_rows(of_block, X, self._n_features_out)

    def p_values(self, X: Any) -> npt.NDArray[np.float64]:
        """Return, for each new row, the share of training rows of its fold that score at least as high.

        Needs `cutoff=Conformal()`. If a share of the rows was held out, these are counted instead of the fold's.
        """
        check_is_fitted(self, "outlier_scores_")
        if len(self.calibration_scores_) == 0:
            raise OptionError(
                "p-values need rows that were kept out of training, and this detector has none; fit it with "
                "cutoff=Conformal()."
            )
        return self._of_rows(PValues.of(self, self._n_threads()), X)

    def discoveries(self, X: Any, fdr: float = 0.1) -> npt.NDArray[np.bool_]:
        """Return a mask of the outliers in a batch of new rows, at most an expected share `fdr` of them false.

        This is Benjamini and Hochberg's rule on the p-values of the batch, so unlike a score, a row's flag depends on
        the other rows. For rows that the detector was fitted to there is no such guarantee: use `predict`.
        """
        check({"fdr": fdr})
        return benjamini_hochberg(as_array(self.p_values(X)), fdr)

    def diagnose(self, X: Any = None, *, labels: Any = None, labeled_outliers: Any = None) -> Diagnosis:
        """Return findings and warnings of the checks that a careful analyst would make.

        With X and known outliers (1 in `labels`, or `labeled_outliers`), also say how high each normalisation ranks
        them.
        """
        check_is_fitted(self, "outlier_scores_")
        findings = diagnose(self)
        if X is None:
            return findings
        return findings.with_normalizations(compare_normalizations(self, X, labels, labeled_outliers))

    def drift(self, X: Any) -> Drift | None:
        """How the rows of `X` differ from the training rows, strongest first.

        `in_words()` of it says so in a line, `to_dict()` says all. It is None where `X` has too few rows, or the model
        was saved by a version that kept no profile of its training rows.
        """
        rows, table = self.rows_of(X), self._table_of(X)
        names = None if table is None else partial(names_of, self, table)
        return compare(self, rows, self.model_.score(rows, self._n_threads()), names)

    def explain(self, X: Any, top: int = 10, *, rows: Any = None, names: Any = None) -> Explanation:
        """Explain the score of each row of `X`.

        Parameters
        ----------
        X : rows, of the training data or new
        top : reasons per row; all other features are summed up in `rest`, and the total is the score
        rows : numbers of the rows of `X` to explain, by default all; if X is on a cluster, only these are fetched
        names : name of each feature: a sequence, or a function of a feature's index; by default the names in the
            training data, or the index if there are none
        """
        TOP.refuse_unless_allowed(top)
        if (table := self._table_of(X)) is not None and table.schema.columns:
            return self._explain_table(table, top, rows, names)
        opened = self.rows_of(X)
        numbers = None if rows is None else read_numbers(rows, opened.n_rows)
        block = opened.in_memory() if numbers is None else opened.take(numbers)
        scores = self.model_.score(block, self._n_threads())
        explainer, names_of = Explainer(self.model_, self.outlier_scores_, block.n_features), feature_namer(self, names)
        found = explainer.explain(block, scores, names_of, top, self._n_threads())
        ids = frames.index_of(X)
        found = found if numbers is None else found.numbered(numbers.tolist())
        return found.identified(ids, self.provenance_.id_of)

    def _explain_table(self, table: Table, top: int, rows: Any, names: Any) -> Explanation:
        """Explain the scores of rows of a table, with the values of the table."""
        opened = self._open_table(table)
        numbers = np.arange(opened.n_rows) if rows is None else read_numbers(rows, opened.n_rows)
        scores = np.zeros(opened.n_rows)
        scores[numbers] = self.model_.score(opened.take(numbers), self._n_threads())
        found = explained(self, table, numbers.tolist(), scores, top).numbered(numbers.tolist())
        found = found if names is None else found.named(feature_namer(self, names))
        return found.identified(table.ids, self.provenance_.id_of)

    def report(
        self,
        X: Any,
        path: str | os.PathLike[str],
        *,
        y: Any = None,
        ids: Any = None,
        names: Any = None,
        texts: Any = None,
        title: str | None = None,
    ) -> Path:
        """Write one HTML file that says which rows of `X` are outliers, and why: see `ramodo.report`."""
        from .report import write_report, write_table_report

        if (table := self._table_of(X)) is not None and table.schema.columns and names is None:
            table = replace(table, ids=table.ids if ids is None else [str(id) for id in ids])
            table = table if texts is None else replace(table, texts=list(texts))
            return write_table_report(self, table, path, y=y, title=title)
        return write_report(self, X, path, y=y, ids=ids, names=names, texts=texts, title=title)

    @property
    def components_(self) -> sp.coo_array:
        """Weights of the features that training changed, columns of the first layer x n_features.

        The weights of a feature without an entry are not zero: they are the initial ones, which follow from the seed.
        """
        check_is_fitted(self, "outlier_scores_")
        parts = [_as_coo(term.representation.first, self.n_features_in_) for term in self.model_.learned]
        return parts[0] if len(parts) == 1 else sp.vstack(parts, format="coo")

    @property
    def feature_indices_(self) -> npt.NDArray[np.int64]:
        """Features whose weights training changed."""
        return self._model_or_error.learned[0].representation.first.columns

    @property
    def feature_weights_(self) -> npt.NDArray[np.float32]:
        """Their weights, one row per feature."""
        return self._model_or_error.learned[0].representation.first.weights

    @property
    def references_(self) -> npt.NDArray[np.float32]:
        """Reference rows in the representation, to which distances are measured."""
        references = self._model_or_error.learned[0].detection.references
        if references is None:
            raise AttributeError("references_: a user-defined scorer has no references that ramodo knows.")
        return references.rows

    @property
    def _model_or_error(self) -> Model:
        if "model_" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self.model_

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model to one file (safetensors); `ramodo.load` reads it back.

        The file holds some of the training rows and names of columns; docs/guarantees.md lists its contents.
        """
        check_is_fitted(self, "outlier_scores_")
        return model_file.save(self, Path(path))

    # ---- scikit-learn's contract ---------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return sum(f.shape[1] for f in self.samples_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


class RAMODO(RandomDistanceDetector):
    """The framework: an outlier detector composed of stages. By default it is `REPEN`, bit for bit.

    Parameters
    ----------
    scorer : `Sp` (default), `KthNN`, `AverageNN`, or a detector with `fit` and `score_samples`
        φ: makes the initial ranking, gives the loss its distances, and detects in the representation.
    ranker : an `Ensemble`, or any scorer
        Makes the initial ranking instead of the scorer.
    thresholder : `Cantelli` (default), `TopFraction`, `TopK`, `GivenSet`, or an object with `split`
        Splits the initial ranking into candidate outliers and inliers.
    sampler : `TripletSampler` (default), or an object with `n_queries` and `draw`
        By default one query or, for a scorer by k neighbours, one query per reference of a subsample.
    representation : `Layers` (default: one of 20 ReLU units), or an object with `first_width` and `head`
        The learned mapping.
    loss : `RankingHinge` (default), or a function of rows and triplets
        The loss that training minimises.
    cutoff : 'auto' or 'chance' or 'cantelli' or float or object, default 'auto'
        Cut-off of `predict`: 'chance' flags rows that stand out more than chance explains, 'cantelli' goes by
        Cantelli's inequality, a number is the share of training rows to flag, and an object is a custom rule. 'auto' is
        'chance' for Consensus, unless α is given, and 'cantelli' for others. Must be 'auto', 'chance', 'cantelli', a
        number above 0 and at most 0.5 or an object with a method cutoff (TopK, Conformal, ...). In the paper: eq. 2.
    labels_in_score : bool, default True
        Whether labelled outliers also shape the final score, by the direction in which they differ from other rows. In
        the paper they only shape training: False. Must be True or False.
    n_epochs : int, default 30
        Passes of training. Must be an integer from 1 to 100,000. In the paper: sec. 6.3.
    samples_per_epoch : 'auto' or int, default 'auto'
        Triplets drawn per epoch; 'auto' is 5,000, or the number of rows if that is less. Must be 'auto' or an integer
        from 1 to 100,000,000. In the paper: sec. 6.3.
    batch_size : int, default 256
        Triplets per gradient step. Must be an integer from 1 to 100,000,000. In the paper: b, sec. 6.3.
    normalize : None or 'l2' or 'max', default None
        Divide each row by its length, or by its largest absolute value. `diagnose` helps to choose. Must be None, 'l2'
        or 'max'.
    n_estimators : int, default 1
        Independent representations, whose scores are averaged. Must be an integer from 1 to 1,000.
    warm_start : bool, default False
        Whether another `fit` starts from the current weights and trains for a tenth of the epochs. Must be False or
        True.
    random_state : None or int or RandomState or Generator, default None
        Seed of all random draws; the same seed gives the same bits. Must be None, an integer from 0 to
        18,446,744,073,709,551,615 or a numpy RandomState or Generator.
    n_jobs : None or int, default None
        Threads. -1 is all cores, -2 all but one; None is 1, unless a `joblib.parallel_config` says otherwise. Results
        do not depend on it. Must be None, an integer from 1 to 4,096 or an integer from -4,096 to -1.
    verbose : int or bool, default 0
        1 reports the stages, with progress on a terminal. Must be an integer from 0 to 10, True or False.

    See Also
    --------
    REPEN : one instance, whose attributes are those of all.

    Notes
    -----
    What each stage must do is in `ramodo.stages`.

    Examples
    --------
    >>> import numpy as np
    >>> from ramodo import RAMODO, KthNN, Layers
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> X[7] += 5
    >>> detector = RAMODO(KthNN(1), representation=Layers((10,)), n_epochs=5, random_state=0).fit(X)
    >>> int(detector.outlier_scores_.argmax())
    7
    """

    def __init__(
        self,
        scorer: Any = None,
        *,
        ranker: Any = None,
        thresholder: Any = None,
        sampler: Any = None,
        representation: Any = None,
        loss: Any = None,
        cutoff: Any = "auto",
        labels_in_score: bool = True,
        n_epochs: int = 30,
        samples_per_epoch: int | str = "auto",
        batch_size: int = 256,
        normalize: str | None = None,
        n_estimators: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.scorer = scorer
        self.ranker = ranker
        self.thresholder = thresholder
        self.sampler = sampler
        self.representation = representation
        self.loss = loss
        self.cutoff = cutoff
        self.labels_in_score = labels_in_score
        self.n_epochs = n_epochs
        self.samples_per_epoch = samples_per_epoch
        self.batch_size = batch_size
        self.normalize = normalize
        self.n_estimators = n_estimators
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _stages(self) -> Stages:
        return assemble(
            self.scorer,
            self.ranker,
            self.thresholder,
            self.sampler,
            self.representation,
            self.loss,
            cutoff_of(self.cutoff),
            self.labels_in_score,
        )


def _given(X: Any, table: Table | None, labels: Any, outliers: Any, inliers: Any, n_threads: int) -> Given:
    """Return the arguments of `fit`, with labelled rows outside X read in the same way as X."""
    if table is None:
        return Given(X, labels, outliers, inliers)
    schema, frequencies, known = table.schema, table.frequencies, []
    for name, extra in (("labeled_outliers", outliers), ("labeled_inliers", inliers)):
        read = None if extra is None else frames.to_score(extra, schema, frequencies, n_threads, name)
        known.append(extra if read is None else read.X)
    return Given(table.X, labels, *known)


def _threshold(
    stages: Stages, model: Model, look: above_chance.Look, scores: flow.Scores, labels: Labels, held_out: flow.Scores
) -> float:
    """Return the threshold for the scores of one model."""
    if stages.cutoff.by_evidence:
        return above_chance.threshold(stages.cutoff, model, look, scores, labels)
    return float(stages.cutoff.cutoff_from(scores, held_out))


def _attributes(outcome: flow.Outcome, stages: Stages, data: TrainingData, progress: Progress) -> dict[str, Any]:
    """Return the attributes that a fit sets."""
    fits, folds, scores = outcome.fits, outcome.calibration, outcome.scores
    calibration = np.concatenate(folds)
    if len(folds) == 1:
        with progress.stage("cut-off"):
            look = above_chance.look_at(outcome.model, outcome.seen)
            found = _threshold(stages, outcome.model, look, scores, data.labels, calibration)
    else:
        found = stages.cutoff.cutoff_of_folds(folds)
    threshold = settled(found, scores if len(folds) == 1 else calibration)
    return {
        "model_": outcome.model,
        "n_features_in_": data.rows.n_features,
        "initial_scores_": outcome.initial,
        "candidate_outliers_": fits[0].candidates.outliers
        if len(fits) == 1
        else np.unique(np.concatenate([f.candidates.outliers for f in fits])),
        "fallback_used_": any(f.candidates.fallback for f in fits),
        "loss_curve_": _mean_curve([f.loss_curve for f in fits]),
        "samples_": [f.sample for f in fits],
        "n_alive_": [f.n_alive for f in fits],
        "outlier_scores_": scores,
        "calibration_scores_": calibration,
        "threshold_": threshold,
        "offset_": offset_of(threshold),
        "false_positive_bound_": stages.cutoff.bound(),
        "options_": stages.shape(),
        "schema_": None,
        "document_frequencies_": None,
    }


def _mean_curve(curves: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Return the mean of the longest curves, since a warm start may train a new representation for longer."""
    longest = max(map(len, curves))
    alike = [curve for curve in curves if len(curve) == longest]
    return alike[0] if len(alike) == 1 else np.mean(alike, axis=0)


def _as_coo(first: Any, n_features: int) -> sp.coo_array:
    n, m = first.weights.shape
    coordinates = np.tile(np.arange(m), n), np.repeat(first.columns, m)
    return sp.coo_array((first.weights.ravel(), coordinates), shape=(m, n_features))
