"""The commands, their options and help. The code of each command is in its own module, imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from ..options import TOP
from ..triage.queues import QUEUES, SCORE
from .flags import (
    MODEL_FILE,
    WRITING,
    Cluster,
    Cutting,
    Fitting,
    Format,
    Id,
    Json,
    Keeping,
    Label,
    Quiet,
    Reading,
    ReadingToFit,
    Seed,
    Threads,
    Writing,
    flag_of,
)
from .groups import grouped

app = typer.Typer(
    help="Finds the outliers in data with thousands to billions of features.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Data = Annotated[str, typer.Argument(metavar="DATA", help="File or rows folder; - is standard input.")]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by fit or detect.")]
Output = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        help="Where to write scores: .csv, .jsonl, .parquet or .npz; - is standard output.",
        rich_help_panel=WRITING,
    ),
]
Report = Annotated[
    str | None, typer.Option("--report", help="Write a report to this .html file.", rich_help_panel=WRITING)
]
Model = Annotated[
    str | None, typer.Option("-m", "--model", help="Write the model to this file.", rich_help_panel=MODEL_FILE)
]
Top = Annotated[int, typer.Option("--top", help="How many rows to show.", min=0)]
FailOnDrift = Annotated[
    bool, typer.Option("--fail-on-drift", help="Exit with code 4 if the rows differ from the training rows.")
]
Every = Annotated[bool, typer.Option("--all", help="Show all of the top rows, not only the highest of each kind.")]


def _print_version(asked: bool) -> None:
    if asked:
        from .. import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def ramodo(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Finds the outliers in data with thousands to billions of features."""


@app.command()
@grouped
def detect(
    data: Data,
    *,
    output: Output = None,
    report: Report = None,
    writing: Writing,
    model: Model = None,
    keeping: Keeping,
    fitting: Fitting,
    reading: ReadingToFit,
    cluster: Cluster = None,
    top: Top = 10,
    every: Every = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit, rank and flag, in one go.

    `ramodo detect mail.svm -o scores.csv --report mail.html`

    `ramodo detect access.log -o found.csv --flagged --with text --reasons 3`
    """
    from .detect import Targets, run_detect
    from .source import Source

    source = Source.asked(reading)
    targets = Targets(output, model, report, writing, keeping)
    run_detect(data, source, fitting, targets, cluster=cluster, top=top, every=every, quiet=quiet, as_json=json)


@app.command()
@grouped
def fit(
    data: Data,
    model: Annotated[
        str, typer.Option("-m", "--model", help="Write the model to this file.", rich_help_panel=MODEL_FILE)
    ],
    reading: ReadingToFit,
    fitting: Fitting,
    keeping: Keeping,
    cluster: Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit a model and write it to a file.

    `ramodo fit mail.svm -m mail.ramodo`
    """
    from .detect import Targets, run_detect
    from .source import Source

    source = Source.asked(reading)
    targets = Targets(model=model, keeping=keeping)
    run_detect(data, source, fitting, targets, cluster=cluster, top=0, quiet=quiet, as_json=json)


@app.command()
@grouped
def score(
    model: ModelPath,
    data: Data,
    *,
    output: Output = "-",
    writing: Writing,
    cutting: Cutting,
    format: Format = None,
    id: Id = None,
    cluster: Cluster = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="From standard input: stop at a row that cannot be read, instead of skipping it."
        ),
    ] = False,
    threads: Threads = None,
    fail_on_drift: FailOnDrift = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score rows with a model; from standard input (-) row by row, as they arrive.

    `ramodo score mail.ramodo new.svm -o scores.csv`

    `tail -f access.log | ramodo score access.ramodo -`
    """
    from .score import run_score

    run_score(
        model,
        data,
        writing,
        cutting,
        output=output or "-",
        format=format,
        id=id,
        cluster=cluster,
        threads=threads,
        quiet=quiet,
        strict=strict,
        fails=fail_on_drift,
        as_json=json,
    )


@app.command()
def drift(
    model: ModelPath,
    data: Data,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Also write a page with pictures: .html.")
    ] = None,
    format: Format = None,
    id: Id = None,
    threads: Threads = None,
    fail_on_drift: FailOnDrift = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say how rows differ from those that a model was fitted to, strongest first.

    `ramodo drift visits.ramodo new.csv -o new.html`
    """
    from .drift import run_drift

    run_drift(
        model,
        data,
        output=output,
        format=format,
        id=id,
        threads=threads,
        quiet=quiet,
        fails=fail_on_drift,
        as_json=json,
    )


@app.command()
@grouped
def diff(
    good: Annotated[str, typer.Argument(metavar="GOOD", help="A log that is as it should be.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="The log to compare with it.")],
    *,
    reading: ReadingToFit,
    fitting: Fitting,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Also write a report: .html.")] = None,
    top: Top = 10,
    quiet: Quiet = False,
) -> None:
    """Say what a log has that another, known to be good, never had.

    `ramodo diff yesterday.log today.log -o today.html`
    """
    from .diff import run_diff
    from .source import Source

    run_diff(good, bad, Source.asked(reading), fitting, output=output, top=top, quiet=quiet)


@app.command()
def transform(
    model: ModelPath,
    data: Data,
    output: Annotated[str, typer.Option("-o", "--output", help="Where to write: .npy, .npz, .csv or .parquet.")],
    format: Format = None,
    id: Id = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Write the learned representation of each row.

    `ramodo transform mail.ramodo mail.svm -o mail.npy`
    """
    from .score import run_transform

    run_transform(model, data, output=output, format=format, id=id, threads=threads, quiet=quiet)


@app.command()
def explain(
    model: ModelPath,
    data: Data,
    row: Annotated[
        list[str] | None,
        typer.Option("--row", help="Id of a row, or its number, from 0, if rows have no ids; may be repeated."),
    ] = None,
    top: Annotated[int, flag_of(TOP)] = 10,
    format: Format = None,
    id: Id = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Explain the scores of rows, by default the three highest.

    `ramodo explain mail.ramodo mail.svm --row 17`
    """
    from .explain import run_explain

    run_explain(model, data, rows=row or [], top=top, format=format, id=id, threads=threads, as_json=json)


@app.command()
def report(
    model: ModelPath,
    data: Data,
    output: Annotated[str, typer.Option("-o", "--output", help="Where to write: .html.")],
    format: Format = None,
    id: Id = None,
    label: Label = None,
    outlier: Annotated[
        str | None, typer.Option("--outlier", help="The label that marks outliers, a number or a word; by default 1.")
    ] = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Write one HTML file: scores, map, top outliers with reasons, checks, and curves if there are labels.

    `ramodo report mail.ramodo mail.svm -o mail.html`
    """
    from .report import run_report

    run_report(
        model, data, output=output, format=format, id=id, label=label, outlier=outlier, threads=threads, quiet=quiet
    )


@app.command()
def evaluate(
    model: ModelPath,
    data: Data,
    labels: Annotated[
        str | None, typer.Option("--labels", help="Table of labels, for data without any: columns id and label.")
    ] = None,
    outlier: Annotated[str, typer.Option("--outlier", help="The label that marks outliers, a number or a word.")] = "1",
    format: Format = None,
    id: Id = None,
    label: Label = None,
    threads: Threads = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare a model's scores with labels: AUC-ROC, average precision, precision at n, with bootstrap intervals.

    `ramodo evaluate mail.ramodo labelled.svm`

    `ramodo evaluate access.ramodo access.log --labels labels.csv`
    """
    from .evaluate import Truth, run_evaluate

    truth = Truth(labels, label, outlier)
    run_evaluate(model, data, truth, format=format, id=id, threads=threads, seed=seed, quiet=quiet, as_json=json)


@app.command()
def serve(
    model: ModelPath,
    port: Annotated[int, typer.Option("--port", help="Port to listen on; 0 for any free one.")] = 8000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote", help="Let other machines reach the server; needed for any --host but this machine."
        ),
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="Host name by which clients call the server; may be repeated.")
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option("--token-file", help="File with the token, created if missing; without it a token is printed."),
    ] = None,
    max_body: Annotated[int, typer.Option("--max-body", help="Largest request, in megabytes.", min=1)] = 32,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Serve a model over HTTP: requests with rows get scores and reasons.

    `ramodo serve mail.ramodo --port 8000 --token-file token`
    """
    from .serve import run_serve

    run_serve(
        model,
        host=host,
        port=port,
        allow_remote=allow_remote,
        names=name or [],
        token_file=token_file,
        max_body=max_body,
        threads=threads,
        quiet=quiet,
    )


@app.command()
@grouped
def convert(
    data: Data,
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="Path ending in .rows, .npz, .svm or .mtx.")],
    reading: Reading,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Convert one format to another; an svmlight file becomes a rows folder in bounded memory.

    `ramodo convert big.svm.gz big.rows`
    """
    from .convert import run_convert
    from .source import Source

    run_convert(data, Source.asked(reading), output, threads=threads, quiet=quiet)


@app.command()
def info(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A model or data.")],
    format: Format = None,
    json: Json = False,
) -> None:
    """Describe a model or a data file.

    `ramodo info mail.ramodo`
    """
    from .info import run_info

    run_info(path, format=format, as_json=json)


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A data set; without it, all are listed.")] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Where to write: .npz (with the pool), .svm or .rows.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", help="The publisher's files: a file, a folder, or the address of one.")
    ] = None,
    cache: Annotated[str | None, typer.Option("--cache", help="Folder for downloaded files.")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Never use the network.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Draws the outliers of News20, URL and Webspam.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List the paper's data sets, or load one of them.

    `ramodo datasets`

    `ramodo datasets News20 -o news20.npz`
    """
    from ..paper.datasets_command import run_list, run_load

    if name is None:
        run_list(cache, json)
        return
    run_load(name, source=source, cache=cache, offline=offline, seed=seed, output=output, quiet=quiet, as_json=json)


@app.command()
@grouped
def triage(
    data: Data,
    reading: ReadingToFit,
    fitting: Fitting,
    model: Annotated[
        str | None,
        typer.Option("-m", "--model", help="A model file written by fit or detect; without it, one is fitted."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", help="Where labels are stored: a file, or postgresql://...; by default DATA.triage."),
    ] = None,
    known: Annotated[str | None, typer.Option("--import", help="Labels to start with: a table of id,label.")] = None,
    every: Annotated[
        int, typer.Option("--every", help="Learn after this many labels; 0 learns only on demand.", min=0)
    ] = 5,
    who: Annotated[str | None, typer.Option("--who", help="Your name, to be stored with labels.")] = None,
    port: Annotated[int, typer.Option("--port", help="Port of the page; 0 for any free one.")] = 0,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines reach the page; says what that implies.")
    ] = False,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    headless: Annotated[
        str | None,
        typer.Option("--headless", help="No page: take labels from this table of id,label, in the queue's order."),
    ] = None,
    queue: Annotated[
        str, typer.Option("--queue", help=f"With --headless: take rows from this queue: {', '.join(QUEUES)}.")
    ] = SCORE.name,
    rows: Annotated[
        int | None, typer.Option("--rows", help="With --headless: label at most this many rows.", min=1)
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="With --headless: write the ranking to this .csv.")
    ] = None,
    save: Annotated[str | None, typer.Option("--save", help="With --headless: write the model to this file.")] = None,
    backup: Annotated[
        str | None, typer.Option("--backup", help="Only copy the store, which may be in use, to this new file.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Label rows on a page and watch the ranking improve, or take the labels from a file.

    `ramodo triage mail.txt`

    `ramodo triage mail.txt --headless answers.csv --rows 100 -o ranking.csv`
    """
    from .source import Source
    from .triage import Asked, run_backup, run_triage

    if backup is not None:
        run_backup(data, store, backup, quiet=quiet)
        return
    asked = Asked(
        model=model, store=store, known=known, every=every, who=who, queue=queue, rows=rows, output=output, save=save
    )
    source = Source.asked(reading)
    if headless is None:
        run_triage(data, source, fitting, asked, (host, port, allow_remote), browser=browser, quiet=quiet)
    else:
        from .triage import run_headless

        run_headless(data, source, fitting, asked, headless, quiet=quiet, as_json=json)


@app.command()
def experiments(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="table-auc-runtime, table-competitors, labels, dimensions, scalability, peers or all."
        ),
    ],
    runs: Annotated[int, typer.Option("--runs", help="How many seeds to run each with.")] = 10,
    sets: Annotated[
        str | None, typer.Option("--sets", help="Data sets by their names in the paper, such as R8,LC.")
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", help="Folder for results.")] = "experiments",
    page: Annotated[str | None, typer.Option("--page", help="Also write everything as one Markdown page.")] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds for one measurement.", min=0)] = 180.0,
    memory_limit: Annotated[float, typer.Option("--memory-limit", help="Gigabytes for one measurement.", min=0)] = 6.0,
    install: Annotated[
        bool, typer.Option("--install", help="Create an environment for DeepOD in build/peers; needs the network.")
    ] = False,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Repeat the paper's experiments, its numbers beside ours. Finished ones are not computed again.

    `ramodo experiments all --runs 3 --output results`

    `ramodo experiments labels --sets News20 --output results`
    """
    from ..paper.experiments_command import run_experiments

    run_experiments(
        name,
        runs=runs,
        sets=sets,
        output=output,
        page=page,
        time_limit=time_limit,
        memory_limit=memory_limit,
        install=install,
        threads=threads,
        quiet=quiet,
    )


@app.command()
def demo() -> None:
    """Look for 200 planted outliers among 10,000 rows with a million features.

    `ramodo demo`
    """
    from ..demo import main as run_demo

    run_demo()
