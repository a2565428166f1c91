"""What `detect --fdr` says of the rows that it flags."""

import numpy as np

from support.burst_log import burst_log


def test_detect_says_for_which_rows_the_rate_holds_and_on_what_condition(run, files):
    done = run("detect", files.mail, "--fdr", 0.5, "--top", 0)
    said = " ".join((done.out + done.err).split())
    assert "Benjamini and Hochberg's rule at 0.5 on the training rows" in said
    assert (
        "no row is a discovery at this rate" in said or "if scores of ordinary rows fall off beyond their bulk" in said
    )


def test_so_does_the_help(run):
    said = " ".join(run("detect", "--help").out.replace("│", " ").split())
    assert "at most this expected share of them by chance" in said


def test_on_a_log_it_keeps_the_ranking_and_counts_copies_once(ok, tmp_path):
    lines, _ = burst_log(n_lines=600, n_scan=12, at=200)
    lines += [lines[0]] * 600
    (tmp_path / "access.log").write_text("\n".join(lines) + "\n")
    said = [ok("detect", tmp_path / "access.log", "-o", "-", "-q", *fdr) for fdr in ((), ("--fdr", 0.2))]
    scores, flags = (
        np.array([[float(line.split(",")[i]) for line in one.splitlines()[1:]] for one in said]) for i in (1, 3)
    )
    assert (scores[0] == scores[1]).all()
    assert not flags[1][-600:].any()
    assert flags[1].sum() >= flags[0].sum()
