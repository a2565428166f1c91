"""What `detect --fdr` says of the rows that it flags."""


def test_detect_says_for_which_rows_the_rate_holds_and_on_what_condition(run, files):
    done = run("detect", files.mail, "--fdr", 0.5, "--top", 0)
    said = " ".join((done.out + done.err).split())
    assert "Benjamini and Hochberg's rule at 0.5 on the training rows" in said
    assert (
        "no row is a discovery at this rate" in said or "if scores of ordinary rows fall off beyond their bulk" in said
    )


def test_so_does_the_help(run):
    said = " ".join(run("detect", "--help").out.replace("│", " ").split())
    assert "an expected share of at most this is flagged by chance" in said
