"""Pictures for notebooks: axes in, the same axes out, with the detector's numbers on them."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.explain.explanation import Reason, RowExplanation
from ramodo.options import OptionError
from ramodo.plots import plot_curves, plot_map, plot_reasons, plot_scores, plot_training

mpl.use("Agg")


@pytest.fixture
def ax():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    figure.canvas.draw()  # a name that matplotlib cannot draw would fail here
    pyplot.close("all")


def test_bars_count_the_training_rows(fitted, ax):
    assert plot_scores(fitted, ax) is ax
    assert sum(bar.get_height() for bar in ax.patches) == len(fitted.outlier_scores_)
    assert ax.lines[0].get_xdata()[0] == fitted.threshold_


def test_the_map_has_a_point_for_each_row(fitted, data, ax):
    assert plot_map(fitted, data[0], ax) is ax
    usual, flagged = ax.collections
    assert len(flagged.get_offsets()) == (fitted.outlier_scores_ >= fitted.threshold_).sum() > 0
    assert len(usual.get_offsets()) + len(flagged.get_offsets()) == 120


def test_reasons_are_bars_that_sum_to_the_score(fitted, data, ax):
    row = fitted.explain(data[0][[118]], top=4, names=lambda column: f"$x_{column}")[0]
    assert plot_reasons(row, ax) is ax
    assert [bar.get_width() for bar in ax.patches] == [
        *[r.contribution for r in row.reasons],
        row.lacks.contribution,
        row.rest,
    ]
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(row.score)
    assert ax.get_yticklabels()[-1].get_text() == "all other features"


def test_what_a_row_lacks_is_said(data, ax):
    why = RowExplanation(
        row=0,
        score=2.0,
        percentile=50.0,
        reasons=(Reason(column=3, feature="the", value=0.0, contribution=1.5, share=0.9, mean=2.0),),
        rest=0.5,
        nearest=(),
    )
    plot_reasons(why, ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["lacks the", "all other features"]


def test_reasons_are_those_of_one_row(fitted, data, ax):
    why = fitted.explain(data[0][[118]])
    plot_reasons(why, ax)
    assert len(ax.patches) == len(why[0].reasons) + bool(why[0].lacks.n) + 1
    for given, words in ((fitted.explain(data[0]), "one of 120 rows"), (fitted, "REPEN")):
        with pytest.raises(OptionError, match=rf"why must be the explanation of one row, .*, got {words}"):
            plot_reasons(given, ax)


@pytest.mark.parametrize("plot", [plot_scores, plot_training, lambda d: plot_map(d, np.ones((3, 4)))])
def test_a_detector_must_be_fitted_before_a_figure_is_made(plot):
    from matplotlib import pyplot

    with pytest.raises(NotFittedError):
        plot(REPEN())
    assert pyplot.get_fignums() == []


def test_curves_end_in_the_corners(fitted, data, ax):
    assert plot_curves(data[1], fitted.outlier_scores_, ax) is ax
    roc = ax.lines[0]
    assert (roc.get_xdata()[0], roc.get_ydata()[0], roc.get_xdata()[-1], roc.get_ydata()[-1]) == (0, 0, 1, 1)
    assert f"{roc_auc_score(data[1], fitted.outlier_scores_):.4f}" in roc.get_label()
    with pytest.raises(OptionError, match="some rows, but not all"):
        plot_curves(np.zeros(120), fitted.outlier_scores_, ax)


def test_the_training_curve(fitted, ax):
    assert plot_training(fitted, ax) is ax
    assert ax.lines[0].get_ydata().tolist() == fitted.loss_curve_.tolist()


def test_without_axes_there_is_a_figure_of_its_own(fitted, ax):
    assert plot_scores(fitted) is not ax


def test_without_matplotlib_the_error_says_what_to_install(fitted, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=r"^plots need the package matplotlib: pip install matplotlib\.$"):
        plot_training(fitted)
