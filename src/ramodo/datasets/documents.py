"""Documents with some planted odd ones, and the words that give each odd one away.

Words are made of syllables, so that no text has to be shipped. An ordinary document is about one of several topics, in
words of that topic and common ones. A few documents are foreign (made of other syllables), spam (a few shouted words
over and over), or boilerplate (always the same notice, which belongs to no topic).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..constraints import Integer
from ..options import OptionError

_OWN = [consonant + vowel for consonant in "bdfglmnprstv" for vowel in "aeio"]
_FOREIGN = ["krz", "szcz", "dzi", "wsk", "ych", "przy", "chw", "ość", "tło", "źni", "żur", "ńcz", "gdz", "bły"]
_SPAM = ("WINNER", "FREE", "CLICK", "BONUS", "CASINO", "VIAGRA", "$$$", "URGENT", "CREDIT")
_NOTICE = "this message was sent automatically please do not reply unsubscribe below confidentiality notice applies"
_N_TOPICS, _N_COMMON, _N_OF_TOPIC = 8, 150, 120

KINDS = ("foreign", "spam", "boilerplate")
"""Kinds of planted documents, in turn."""


@dataclass(frozen=True)
class Documents:
    """Texts; `y` is 1 for planted ones; `kinds` and `causes` (words that give it away) are empty for all others.

    Examples
    --------
    >>> from ramodo.datasets import make_documents
    >>> documents = make_documents(100, 3, random_state=0)
    >>> len(documents.texts), int(documents.y.sum())
    (100, 3)
    """

    texts: list[str]
    y: npt.NDArray[np.int8]
    kinds: list[str]
    causes: list[tuple[str, ...]]


def make_documents(n_documents: int = 5_000, n_planted: int = 30, *, random_state: int | None = None) -> Documents:
    """Return `n_documents` documents of 30 to 120 words; `n_planted` of them are odd, in one of three ways.

    Examples
    --------
    >>> from ramodo.datasets import make_documents
    >>> documents = make_documents(100, 3, random_state=0)
    >>> len(set(documents.kinds)) - 1  # all other documents have the kind ""
    3
    """
    if not Integer(1).accepts(n_documents) or not Integer(0, n_documents).accepts(n_planted):
        raise OptionError(
            "n_documents must be an integer of at least 1 and n_planted one from 0 to n_documents, got "
            f"{n_documents!r} and {n_planted!r}."
        )
    rng = np.random.default_rng(random_state)
    common = _words(_OWN, _N_COMMON, rng)
    topics = [_words(_OWN, _N_OF_TOPIC, rng) for _ in range(_N_TOPICS)]
    foreign = _words(_FOREIGN, _N_OF_TOPIC, rng)
    kinds = [""] * n_documents
    for number, place in enumerate(np.sort(rng.choice(n_documents, n_planted, replace=False)).tolist()):
        kinds[place] = KINDS[number % len(KINDS)]
    texts, causes = [], []
    for kind in kinds:
        ordinary = _ordinary(common, topics[int(rng.integers(_N_TOPICS))], rng)
        text, cause = _planted(kind, ordinary, foreign, rng)
        texts.append(text)
        causes.append(cause)
    return Documents(texts, np.array([bool(kind) for kind in kinds], dtype=np.int8), kinds, causes)


def _words(syllables: list[str], n: int, rng: np.random.Generator) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < n:
        made["".join(rng.choice(syllables, int(rng.integers(2, 5))))] = None
    return list(made)


def _drawn(words: list[str], n: int, rng: np.random.Generator) -> list[str]:
    """Draw words, common ones more often than rare ones, as in any language."""
    weights = 1 / (1 + np.arange(len(words)))
    return rng.choice(words, n, p=weights / weights.sum()).tolist()


def _ordinary(common: list[str], topic: list[str], rng: np.random.Generator) -> list[str]:
    n = int(rng.integers(30, 120))
    words = [*_drawn(common, n // 2, rng), *_drawn(topic, n - n // 2, rng)]
    return [words[i] for i in rng.permutation(len(words))]


def _planted(
    kind: str, ordinary: list[str], foreign: list[str], rng: np.random.Generator
) -> tuple[str, tuple[str, ...]]:
    """Return the text, and what gives it away."""
    if kind == "foreign":
        words = _drawn(foreign, len(ordinary), rng)
        return " ".join(words), tuple(dict.fromkeys(words))
    if kind == "spam":
        shouted = rng.choice(_SPAM, 12).tolist()
        words = [*ordinary[:20], *shouted]
        return " ".join(words[i] for i in rng.permutation(len(words))), tuple(dict.fromkeys(shouted))
    if kind == "boilerplate":
        return " ".join([*ordinary[:10], _NOTICE]), tuple(_NOTICE.split())
    return " ".join(ordinary), ()
