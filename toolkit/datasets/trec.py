"""TREC qrels (``query iteration document grade``) and runs (``query Q0 document rank score tag``)."""

from __future__ import annotations

import re

import pandas as pd

from toolkit.datasets.report import ReadReport

_INTEGER = re.compile(r"[+-]?[0-9]+$")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$")


def looks_like_qrels(line: str) -> bool:
    """Is this line four words of which the last is an integer, and not a row of a tab-separated table?"""
    words = line.split()
    return len(words) == 4 and bool(_INTEGER.match(words[3])) and line.strip().count("\t") in (0, 3) and "," not in words[1]


def looks_like_run(line: str) -> bool:
    """Is this line six words or more, the fourth an integer and the fifth a number?"""
    words = line.split()
    return len(words) >= 6 and bool(_INTEGER.match(words[3])) and bool(_NUMBER.match(words[4]))


def _rows(text: str, report: ReadReport):
    """Line number and words of each row; comment lines (``#``) are noted."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            report.note("noted", "comment line", row=number, value=line[:60].rstrip("\r"))
        elif words := line.split():
            report.read += 1
            yield number, line, words


def read_qrels(text: str, report: ReadReport) -> pd.DataFrame:
    """Raw judgments: row, query_id, product_id, grade (as text); lines of another shape are set aside."""
    kept = []
    for number, line, words in _rows(text, report):
        if len(words) == 4:
            kept.append((number, words[0], words[2], words[3]))
        else:
            report.note("set_aside", f"a qrels line has 4 words, this has {len(words)}", row=number, value=line.strip()[:80])
    return pd.DataFrame(kept, columns=["row", "query_id", "product_id", "grade"])


def read_run(text: str, report: ReadReport) -> pd.DataFrame:
    """Raw rankings: row, query_id, product_id, score (as text).

    As in trec_eval the score orders the documents and the rank column does not count; words after
    the tag are ignored (noted).
    """
    kept = []
    for number, line, words in _rows(text, report):
        if len(words) < 6:
            report.note("set_aside", f"a run line has 6 words, this has {len(words)}", row=number, value=line.strip()[:80])
            continue
        if len(words) > 6:
            report.note("noted", "words after the run tag ignored", row=number, value=" ".join(words[6:])[:60])
        kept.append((number, words[0], words[2], words[4]))
    return pd.DataFrame(kept, columns=["row", "query_id", "product_id", "score"])
