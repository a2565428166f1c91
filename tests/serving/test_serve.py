"""`ramodo serve` over HTTP, with real requests."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pytest

from ramodo import load
from ramodo.model.terms import offset_of
from ramodo.serving import SavedModel
from ramodo.serving.requests import ARROW
from ramodo.serving.routes import OPEN_PATHS, Counted, Service
from ramodo.web import Access, Place, application
from support.loopback import serving

LIMIT = 1_000_000


def server_of(model):
    service = Service(model, 2)
    place, listening = Place().opened()
    access = Access()
    app = application(service.routes(), place, access, open_paths=OPEN_PATHS, max_body=LIMIT)
    client = httpx.Client(base_url=place.address, headers={"authorization": f"Bearer {access.token}"}, timeout=60)
    return Counted(app, service.metrics), listening, client


@pytest.fixture(scope="module")
def visits(fitted):
    app, listening, client = server_of(fitted.visits.model)
    with serving(app, listening), client:
        yield client


@pytest.fixture(scope="module")
def mail(fitted):
    app, listening, client = server_of(fitted.mail.model)
    with serving(app, listening), client:
        yield client


def metric(client, name):
    return sum(float(line.split()[1]) for line in client.get("/metrics").text.splitlines() if line.startswith(name))


def test_rows_as_json(visits, fitted):
    found = visits.post("/score", json={"rows": fitted.visits.rows})
    assert found.status_code == 200
    model = SavedModel(fitted.visits.model)
    assert found.json() == {"model": model.identity, "threshold": model.threshold, "rows": fitted.visits.scored}
    assert found.headers["ramodo-model"] == model.identity["checksum"]
    assert visits.post("/score", json=fitted.visits.rows[:3]).json()["rows"] == fitted.visits.scored[:3]


def test_rows_as_arrow(visits, fitted):
    table = pyarrow.csv.read_csv(fitted.visits.data)
    body = io.BytesIO()
    with pa.ipc.new_stream(body, table.schema) as stream:
        stream.write_table(table, max_chunksize=20)
    found = visits.post("/score?reasons=1", content=body.getvalue(), headers={"content-type": ARROW})
    assert found.headers["content-type"] == ARROW
    scored = pa.ipc.open_stream(found.content).read_all()
    assert scored.column("score").to_pylist() == fitted.visits.scores
    assert scored.schema.names == ["visit", "score", "percentile", "flag", "reasons"]
    assert all(len(reasons) == 1 for reasons in scored.column("reasons").to_pylist())


def test_a_long_request_gets_the_same_bits(mail, fitted):
    rows = fitted.mail.rows * 5
    assert len(json.dumps(rows)) > 1 << 16
    assert [row["score"] for row in mail.post("/score", json=rows).json()["rows"]] == fitted.mail.scores * 5


def test_reasons_on_demand(mail, fitted):
    (row,) = mail.post("/score?reasons=3", json=fitted.mail.rows[-1:]).json()["rows"]
    assert len(row["reasons"]) == 3
    assert row["score"] == fitted.mail.scores[-1]
    (row,) = mail.post("/score", json=fitted.mail.rows[-1:]).json()["rows"]
    assert "reasons" not in row


@pytest.mark.parametrize("given", ["-1", "x", "1e3", "1001", "٣", "9" * 5000])
def test_reasons_that_are_none(mail, given):
    found = mail.post("/score", params={"reasons": given}, json=[{}])
    assert found.status_code == 422
    assert "an integer from 0 to 1000" in found.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/health", 404), ("POST", "/", 404), ("GET", "/score", 405), ("PUT", "/model", 405)],
)
def test_what_is_not_there_is_told_with_what_is(mail, method, path, status):
    found = mail.request(method, path)
    assert found.status_code == status
    said = (
        f"The address must be one of POST /score, /reload, GET /model, /drift, /metrics, /healthz, got {method} {path}."
    )
    assert found.json()["error"]["message"] == said


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 422, "must be JSON"),
        (b'{"rows": [', 422, "must be JSON"),
        (b"\xff\xfe", 422, "must be JSON"),
        (b'{"rows": 3}', 422, 'must be {"rows": [...]}'),
        (b"3", 422, "or a list of rows"),
        (b"[]", 422, "has no rows"),
        (b'[{"1": NaN}]', 422, "numbers must be finite, got NaN; use null"),
        (b'[{"1": 1e999}]', 422, "row 0: the feature '1' must have a finite number, got inf"),
        (b"[" * 200_000, 422, "got deeper nesting"),
        (b'[{"1": ' + b"9" * 5000 + b"}]", 422, "must be JSON"),
    ],
)
def test_broken_bodies(mail, body, status, message):
    found = mail.post("/score", content=body)
    assert found.status_code == status
    assert message in found.json()["error"]["message"]


def test_a_bad_row_is_named_and_nothing_is_lost(mail, fitted):
    rows = [*fitted.mail.rows[:4], {"41": 1.0}, *fitted.mail.rows[4:]]
    found = mail.post("/score", json=rows)
    assert found.status_code == 422
    assert found.json()["error"]["row"] == 4
    assert "row 4: a feature must be a number from 1 to 40, got '41'" in found.json()["error"]["message"]
    assert mail.post("/score", json=fitted.mail.rows).json()["rows"] == fitted.mail.scored


def test_damaged_arrow_is_refused(visits, fitted):
    table = pyarrow.csv.read_csv(fitted.visits.data)
    body = io.BytesIO()
    with pa.ipc.new_stream(body, table.schema) as stream:
        stream.write_table(table)
    whole = body.getvalue()
    for broken in (b"", b"nonsense", whole[:100], whole[: len(whole) // 2]):
        found = visits.post("/score", content=broken, headers={"content-type": ARROW})
        assert found.status_code == 422, broken[:10]
        assert "error" in found.json()


def test_other_content_types_are_refused(mail):
    found = mail.post("/score", content=b"1:1", headers={"content-type": "text/plain"})
    assert found.status_code == 415
    assert f"must be application/json or {ARROW}, got text/plain" in found.json()["error"]["message"]


def test_huge_bodies_are_refused(mail):
    assert mail.post("/score", content=b" " * (LIMIT + 1)).status_code == 413


def test_the_model_says_what_it_takes(visits, mail):
    assert visits.get("/model").json()["columns"] == ["country", "seconds", "bot", "day"]
    assert mail.get("/model").json()["rows"] == "features"


def test_health_needs_no_token_and_all_else_does(mail):
    assert httpx.get(f"{mail.base_url}/healthz").json() == {"status": "ok"}
    for path in ("/model", "/metrics", "/"):
        assert httpx.get(f"{mail.base_url}{path}").status_code == 401
    assert httpx.post(f"{mail.base_url}/score", json=[{}]).status_code == 401


def test_metrics_count(mail, fitted):
    names = (
        "ramodo_rows_total",
        "ramodo_errors_total",
        "ramodo_score_seconds_count",
        'ramodo_requests_total{path="/score"',
    )
    before = [metric(mail, name) for name in names]
    mail.post("/score", json=fitted.mail.rows)
    mail.post("/score", json=[3])
    httpx.get(f"{mail.base_url}/secret-path")
    after = [metric(mail, name) for name in names]
    assert [b - a for a, b in zip(before, after, strict=True)] == [len(fitted.mail.rows), 2, 1, 2]
    page = mail.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    assert "# TYPE ramodo_rows_total counter" in page.text
    assert "secret-path" not in page.text


def test_twenty_clients_at_once(mail, fitted):
    def ask(number):
        part = fitted.mail.rows[number : number + 20]
        return [row["score"] for _ in range(2) for row in mail.post("/score", json=part).json()["rows"]]

    with ThreadPoolExecutor(20) as pool:
        for number, found in enumerate(pool.map(ask, range(20))):
            assert found == fitted.mail.scores[number : number + 20] * 2


PROGRAM = "from ramodo.cli import main; main()"


@pytest.fixture
def command():
    """Starts `ramodo serve` in a process of its own; gives it, its address and what it said."""
    started = []

    def start(*arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        line = [sys.executable, "-c", PROGRAM, "serve", *map(str, arguments)]
        process = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        said = [process.stderr.readline()]
        while not said[-1].startswith("token: "):
            assert said[-1], said
            said.append(process.stderr.readline())
        return process, said[0].split(" at ")[1].split(";")[0], said

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_command_serves_and_stops(command, fitted, tmp_path):
    token = tmp_path / "token"
    process, address, said = command(fitted.visits.model, "--port", "0", "--token-file", token)
    assert address.startswith("http://127.0.0.1:")
    secret = token.read_text().strip()
    assert secret not in "".join(said)
    found = httpx.post(f"{address}/score", json=fitted.visits.rows, headers={"authorization": f"Bearer {secret}"})
    assert found.json()["rows"] == fitted.visits.scored
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def test_the_command_says_what_remote_means(command, fitted):
    _, address, said = command(
        fitted.mail.model, "--port", "0", "--host", "0.0.0.0", "--allow-remote", "--name", "scorer"
    )
    assert "travel unencrypted" in said[1]
    headers = {"authorization": f"Bearer {said[2].split()[1]}"}
    assert httpx.get(f"{address}/model", headers={**headers, "host": "scorer"}).status_code == 200
    assert httpx.get(f"{address}/model", headers={**headers, "host": "other"}).status_code == 400


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--host", "0.0.0.0"], 2, "--allow-remote"),
        (["--port", "70000"], 2, "--port must be from 0"),
    ],
)
def test_the_command_refuses(fitted, monkeypatch, capsys, arguments, code, message):
    from ramodo.cli import main

    monkeypatch.setattr(sys, "argv", ["ramodo", "serve", str(fitted.mail.model), *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == code
    assert message in capsys.readouterr().err


def test_a_request_is_not_held_up_by_a_long_one(mail, fitted):
    """Health is answered while rows are scored."""
    rows = fitted.mail.rows * 2
    thread = threading.Thread(target=lambda: mail.post("/score?reasons=10", json=rows))
    thread.start()
    assert httpx.get(f"{mail.base_url}/healthz", timeout=60).status_code == 200
    thread.join()


# ---- which model, and the next one -----------------------------------------------------------------------------------


@pytest.fixture
def replaceable(fitted, tmp_path):
    """A server whose model is in a file of its own, and that file."""
    path = tmp_path / "m.ramodo"
    path.write_bytes(fitted.visits.model.read_bytes())
    app, listening, client = server_of(path)
    with serving(app, listening), client:
        yield client, path


def _other_model(fitted, path):
    """The same data with another cut-off: another checksum."""
    detector = load(fitted.visits.model)
    detector.threshold_ += 1
    detector.offset_ = offset_of(detector.threshold_)
    detector.save(path)


def test_a_model_is_replaced_while_requests_are_answered(replaceable, fitted):
    client, path = replaceable
    first = client.get("/model").json()["model"]
    assert first["checksum"] in client.get("/metrics").text
    stop, seen = threading.Event(), []

    def ask():
        while not stop.is_set():
            found = client.post("/score", json=fitted.visits.rows[:5])
            seen.append((found.status_code, found.json()["model"]["checksum"]))

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        _other_model(fitted, path)
        reloaded = client.post("/reload")
        stop.set()
        for each in asking:
            each.result()
    second = client.get("/model").json()["model"]
    assert reloaded.json() == {"model": second}
    assert {status for status, _ in seen} == {200}
    assert {checksum for _, checksum in seen} <= {first["checksum"], second["checksum"]}
    assert first != second
    assert client.post("/score", json=fitted.visits.rows[:5]).json()["model"] == second
    assert metric(client, "ramodo_reloads_total") == 1


def test_a_file_that_is_no_model_leaves_the_old_one(replaceable, fitted):
    client, path = replaceable
    before = client.get("/model").json()
    path.write_bytes(b"nonsense")
    found = client.post("/reload")
    assert found.status_code == 409
    assert "The model was not replaced" in found.json()["error"]["message"]
    assert client.get("/model").json() == before
    assert client.post("/score", json=fitted.visits.rows[:5]).status_code == 200


def test_drift_is_told(replaceable, fitted):
    client, _ = replaceable
    assert client.get("/drift").json()["drift"] is None
    client.post("/score", json=fitted.visits.rows)
    assert client.get("/drift").json()["moved"] == []
    assert metric(client, "ramodo_drift_things") == 0
    changed = [{**row, "seconds": 1000 * row["seconds"]} for row in fitted.visits.rows if row["seconds"] is not None]
    for _ in range(20):
        client.post("/score", json=changed)
    first = client.get("/drift").json()["moved"][0]
    assert first["name"] == "seconds"
    said = f'ramodo_drift{{kind="{first["kind"]}",name="seconds",what="column"}}'
    assert metric(client, said) == pytest.approx(first["effect"])
