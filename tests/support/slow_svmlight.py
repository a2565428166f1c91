"""The svmlight format in a few obvious lines: what the native reader must agree with, on any bytes."""

import math
import re

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
PAIR = re.compile(rb"([0-9]{1,18}):(.*)", re.DOTALL)


class Refused(Exception):  # noqa: N818
    pass


def read(text):
    """Label and pairs, in the order of their indices, of each row; `Refused` where a row has no meaning."""
    return [_row(tokens) for line in text.split(b"\n") if (tokens := _tokens(line.split(b"#")[0]))]


def _tokens(line):
    return [token for token in re.split(rb"[ \t\r]+", line) if token]


def _row(tokens):
    label, pairs = _number(tokens[0]), {}
    begin = 2 if len(tokens) > 1 and _is_query(tokens[1]) else 1
    for token in tokens[begin:]:
        found = PAIR.fullmatch(token)
        if found is None or int(found[1]) > 2**48 or int(found[1]) in pairs:
            raise Refused
        pairs[int(found[1])] = _number(found[2])
    return label, sorted(pairs.items())


def _is_query(token):
    if not token.startswith(b"qid:") or token == b"qid:":
        return False
    if b":" in token[4:]:
        raise Refused
    return True


def _number(token):
    if not NUMBER.fullmatch(token) or not math.isfinite(float(token)):
        raise Refused
    return float(token)
