"""Random (query, configuration) pairs with noise, and the comparison of two engines on them.

Used by the tests (hundreds of pairs) and by the benchmark report (thousands).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from toolkit.search import MultiMatch, SearchEngine, SearchRun

ODD = ("men’s", "Ａｄｉｄａｓ", "ＮＩＫＥ", "crème", "cafe\u0301", "naïve", "straße", "İstanbul", "ΣΊΣΥΦΟΣ", "東京", "ひらがな", "カタカナ",
       "รองเท้า", "한국어", "👟", "👩‍👩‍👧", "🇩🇪", "C++", "don't", "foo:bar", "3.14", "3,000mAh", "snake_case", "__", "½", "№5", "x²", "ﬁt", "ᴀʙ",
       '60"', "#1", "!awnmower", "(size:10)", "OR", "AND", "*", "~", "a" * 270, "\u200bzero\u200bwidth", "\u00adsoft", "ªº", "Ⅻ", "\U0001d400bold")
"""Words that analysers disagree about."""

TIES = (None, 0.0, 0.1, 0.3, 0.5, 0.7, 1.0)


def typo(word: str, rng: np.random.Generator) -> str:
    """One random edit."""
    at, letter = int(rng.integers(len(word) + 1)), "abcdefghijklmnopqrstuvwxyz0123456789"[rng.integers(36)]
    kind = rng.integers(4)
    if kind == 0:
        return word[:at] + letter + word[at:]
    if kind == 1:
        return word[:at] + letter + word[at + 1:]
    if kind == 2:
        return word[:at] + word[at + 1:]
    return word[:at] + word[at + 1:at + 2] + word[at:at + 1] + word[at + 2:]


def noisy(text: str, rng: np.random.Generator) -> str:
    """A query text with typos, repeats, plurals, capitals, other orders and odd words."""
    words = [typo(word, rng) if rng.random() < 0.15 else word for word in text.split()]
    chance = rng.random()
    if words and chance < 0.2:
        word = words[rng.integers(len(words))]
        words.append(word if rng.random() < 0.4 else word + "s")
    elif chance < 0.35:
        words.insert(int(rng.integers(len(words) + 1)), ODD[rng.integers(len(ODD))])
    elif chance < 0.45:
        words = [word.upper() if rng.random() < 0.5 else word for word in words]
    elif chance < 0.55:
        rng.shuffle(words)
    return " ".join(words)


def noisy_queries(queries: pd.DataFrame, products: pd.DataFrame, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Half of the texts are queries, half are cut out of products; most get noise."""
    texts = []
    columns = [name for name in ("title", "brand", "bullet_point", "description", "color") if name in products.columns]
    while len(texts) < n:
        if rng.random() < 0.5:
            text = queries["query"].iloc[rng.integers(len(queries))]
        else:
            cell = products[columns[rng.integers(len(columns))]].iloc[rng.integers(len(products))]
            words = cell.split() if isinstance(cell, str) else []
            start, length = int(rng.integers(len(words) + 1)), int(rng.integers(1, 9))
            text = " ".join(words[start:start + length])
        texts.append(noisy(text, rng) if rng.random() < 0.7 else text)
    return pd.DataFrame({"query_id": [f"q{i}" for i in range(n)], "query": texts})


def spoiled(products: pd.DataFrame, fields: Sequence[str], rng: np.random.Generator, share: float = 0.05) -> pd.DataFrame:
    """Products with odd words, empty cells and lists in a share of their cells, and some exact copies (real ties)."""
    out = products.copy()
    for name in fields:
        cells = out[name].astype(object).tolist()
        for at in np.flatnonzero(rng.random(len(cells)) < share):
            word, text = ODD[rng.integers(len(ODD))], cells[at] if isinstance(cells[at], str) else ""
            cells[at] = ["", None, [text, word], f"{text} {word}", f"{word} {word} {text}"][rng.integers(5)]
        out[name] = pd.Series(cells, index=out.index, dtype=object)
    copies = out.iloc[rng.integers(len(out), size=len(out) // 50)].copy()
    copies["product_id"] = [f"copy{i}" for i in range(len(copies))]
    return pd.concat([out, copies], ignore_index=True)


def _weight(rng: np.random.Generator) -> float:
    draw = rng.random()
    if draw < 0.12:
        return 0.0
    if draw < 0.3:
        return 1.0
    if draw < 0.5:
        return float(rng.integers(2, 12))
    return round(float(rng.uniform(0.01, 10)), 2) if draw < 0.85 else float(np.exp(rng.uniform(-7, 7)))


def random_config(fields: Sequence[str], fuzziness: int | str, rng: np.random.Generator) -> MultiMatch:
    """A configuration over one to all fields."""
    chosen = rng.permutation(list(fields))[:rng.integers(1, len(fields) + 1)]
    extra = {}
    if fuzziness == "AUTO" and rng.random() < 0.25:
        extra = {"prefix_length": int(rng.integers(0, 4)), "max_expansions": int(rng.choice([5, 10, 50]))}
    return MultiMatch({str(name): _weight(rng) for name in chosen}, type=str(rng.choice(["best_fields", "most_fields"])),
                      operator="or" if rng.random() < 0.65 else "and", tie_breaker=TIES[rng.integers(len(TIES))], fuzziness=fuzziness, **extra)


def compare_runs(ours: SearchRun, theirs: SearchRun) -> pd.DataFrame:
    """One row a query: how far the embedded engine's answer equals Elasticsearch's.

    Columns: query_id, failed, same_list (ids in order), ours, theirs (lengths), shared (products in both
    lists), equal_scores (of these, to the last bit), same_total, largest_error (relative, of shared
    products), irreproducible.
    """
    lists = [dict(list(run.rankings.groupby("query_id", sort=False))) for run in (ours, theirs)]
    empty = ours.rankings.iloc[:0]
    rows = []
    for a, b in zip(ours.status.itertuples(), theirs.status.itertuples(), strict=True):
        left, right = (found.get(a.query_id, empty) for found in lists)
        both = left.merge(right, on="product_id")
        x, y = both["score_x"].to_numpy(np.float32), both["score_y"].to_numpy(np.float32)
        error = np.abs(x.astype(float) - y) / np.maximum(np.abs(y), 1e-30)
        rows.append((a.query_id, b.status == "failed", left["product_id"].tolist() == right["product_id"].tolist(), len(left), len(right),
                     len(both), int((x.view(np.int32) == y.view(np.int32)).sum()), a.total_hits == b.total_hits,
                     float(error.max(initial=0.0)), bool(a.irreproducible)))
    return pd.DataFrame(rows, columns=["query_id", "failed", "same_list", "ours", "theirs", "shared", "equal_scores", "same_total",
                                       "largest_error", "irreproducible"])


def compare_engines(ours: SearchEngine, theirs: SearchEngine, queries: pd.DataFrame, fields: Sequence[str], fuzziness: int | str, *,
                    per_config: int, depth: int, rng: np.random.Generator) -> Iterator[pd.DataFrame]:
    """Compare all queries, each group of ``per_config`` under its own random configuration."""
    for start in range(0, len(queries), per_config):
        config = random_config(fields, fuzziness, rng)
        group = queries.iloc[start:start + per_config]
        found = compare_runs(ours.run(group, config, depth), theirs.run(group, config, depth))
        yield found.assign(query=group["query"].tolist(), config=str(config))


def differing(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs that are not equal in every list, score and total."""
    equal = table["same_list"] & (table["equal_scores"] == table["ours"]) & (table["ours"] == table["theirs"]) & table["same_total"]
    return table[table["failed"] | ~equal]
