"""A day of a web server with a scan in it: many odd requests of one address within a minute."""

import numpy as np

from ramodo.datasets import make_access_log

SCANNER = "203.0.113.77"

_ASKED = (
    "admin/config.php?cmd={0}",
    "cgi-bin/test.cgi?x=%3Cscript{0}",
    "..%2f..%2fetc/passwd{0}",
    "wp-login.php?u={0}'--",
)


def burst_log(n_lines=1500, n_scan=60, seed=0, at=700):
    """The lines, and where the scan is; ordinary lines come from a few hundred addresses."""
    rng = np.random.default_rng(seed)
    clients = [".".join(map(str, rng.integers(1, 250, 4))) for _ in range(300)]
    lines = make_access_log(n_lines, 0, random_state=seed).lines
    lines = [f"{clients[rng.integers(300)]} {line.split(' ', 1)[1]}" for line in lines]
    hour = lines[at].split("[", 1)[1][:15]
    scan = [
        f'{SCANNER} - - [{hour}00:{number % 60:02d} +0000] "GET /{_ASKED[number % 4].format(rng.integers(10**6))} '
        f'HTTP/1.1" 404 {rng.integers(200, 900)} "-" "scanner/1.{number % 3}"'
        for number in range(n_scan)
    ]
    return [*lines[:at], *scan, *lines[at:]], np.arange(at, at + n_scan)
