"""Masks: what becomes a placeholder, what stays, and where it was."""

from __future__ import annotations

import pytest

from ramodo.formats.masking import Masks, templates_of

MASKED = {
    "2026-03-02 09:14:05,123 worker 17 lost 10.0.0.7:80": "<time> worker <number> lost <ip>",
    "2026-03-02T09:14:05.25+01:00 up": "<time> up",
    "2005-06-03-15.42.50.675872 2005.06.03 RAS": "<time> <time> RAS",
    "Dec 10 06:55:46 host sshd[24200]: gone": "<time> host sshd[<number>]: gone",
    "[Sun Dec 04 04:47:44 2005] [notice] ok": "[<time>] [notice] ok",
    "[02/Mar/2026:09:14:05 +0000]": "[<time>]",
    "at 09:14:05 or 9:14": "at <time> or <number>:<number>",
    "id {5770385f-c22a-43e0-bf4c-06f5698ffbd9}": "id {<uuid>}",
    "from fe80::1:2 and 2001:db8:0:0:0:0:0:1 via 00:1B:44:11:3a:b7": "from <ip> and <ip> via <mac>",
    "at 0x0b85eee0, core deadbeef01, decade, cafebabe": "at <hex>, core <hex>, decade, cafebabe",
    "token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpX== end": "token <base64> end",
    "AddingExtensionCertificateHandler": "AddingExtensionCertificateHandler",
    "/a/b/roboto-bold-2/File.Name.With.Dots-And-2013": "/a/b/roboto-bold-<number>/File.Name.With.Dots-And-<number>",
    "blk_-1608999687919862906 md5 v1.2.3": "blk_-<number> md<number> v<number>",
    "std::vector, a:b:c": "std::vector, a:b:c",
    "/a?q=%27%20OR%201%3D1%2F12&n=50": "/a?q=%27%20OR%20<number>%3D<number>%2F<number>&n=<number>",
    "größe 7 µs": "größe <number> µs",
    "": "",
}


@pytest.mark.parametrize("given", MASKED)
def test_what_varies_becomes_a_placeholder_of_its_type(given: str) -> None:
    assert Masks().line(given) == MASKED[given]


@pytest.mark.parametrize("given", MASKED)
def test_each_mask_knows_what_was_there_and_where_it_is_now(given: str) -> None:
    masked = Masks()(given)
    assert masked.text == Masks().line(given)
    restored = masked.text
    for mask in reversed(masked.masks):
        end = mask.at + len(f"<{mask.kind}>")
        assert restored[mask.at : end] == f"<{mask.kind}>"
        restored = restored[: mask.at] + given[mask.begin : mask.end] + restored[end:]
    assert restored == given


def test_patterns_of_the_user_come_first() -> None:
    masks = Masks.asked(["auto", "user_[a-z]+", "R[0-9]{2}-M[0-9]"])
    assert masks is not None
    assert masks.line("user_anna at R02-M1 port 22") == "<custom> at <custom> port <number>"


def test_none_masks_nothing() -> None:
    assert Masks.asked(["none"]) is None


def test_templates_are_distinct_masked_lines_with_their_counts() -> None:
    found = templates_of(["lost 10.0.0.7", "worker 3", "lost 10.0.0.8", "lost it"], Masks())
    assert found.texts == ["lost <ip>", "worker <number>", "lost it"]
    assert (found.counts.tolist(), found.of_line.tolist()) == ([2, 1, 1], [0, 1, 0, 2])
