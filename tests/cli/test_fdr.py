"""What `detect --fdr` says of the rows that it flags."""


def test_detect_does_not_promise_a_rate_for_the_rows_that_it_was_fitted_to(run, files):
    done = run("detect", files.mail, "--fdr", 0.5, "--top", 0)
    said = " ".join((done.out + done.err).split())
    assert "holds for new rows only" in said
    assert "false-discovery rate of" not in said


def test_nor_does_the_help(run):
    said = " ".join(run("detect", "--help").out.replace("│", " ").split())
    assert "holds for new rows only" in said
