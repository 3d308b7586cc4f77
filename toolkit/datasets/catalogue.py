"""A generated, ESCI-shaped catalogue whose causes of failure are known."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pandas as pd

from toolkit.datasets.catalogue_causes import (BANDS, misspelling, negation, no_relevant_indexed, outranked,
                                               vocabulary_gap)
from toolkit.datasets.catalogue_draw import Draw
from toolkit.datasets.catalogue_products import Listing, brand_names, near_duplicate, novelty, plain, quiet
from toolkit.datasets.catalogue_queries import GRADES, Asked, Shop, ordinary
from toolkit.datasets.catalogue_terms import Reach
from toolkit.datasets.catalogue_truth import complete
from toolkit.datasets.catalogue_types import THEMES, TYPES, ProductType, Theme

CAUSES = ("outranked", "vocabulary_gap", "misspelling", "negation", "no_relevant_indexed")
HARD_MIX = (("outranked", 42), ("vocabulary_gap", 18), ("misspelling", 14), ("negation", 16), ("no_relevant_indexed", 10))
"""Shares of the hard queries, in percent."""
JUDGED = ("sample", "all")
TRIES = 400  # attempts to make one hard query before its catalogue is called too small


@dataclass(frozen=True)
class Catalogue:
    """Generated products, queries and judgments, with the truth about every query.

    Attributes
    ----------
    products, queries, judgments : DataFrame
        Canonical tables. Some judged products are not in ``products`` (cause ``no_relevant_indexed``).
    causes : DataFrame
        query_id; cause (``none``, ``outranked``, ``vocabulary_gap``, ``misspelling``, ``negation`` or
        ``no_relevant_indexed``); band (planted rank bucket of an outranked query, else null); planted_depth
        (planned rank of its first relevant product, else null); noise (kind of untidiness, else null);
        details (the plan in words); relevant_ids (judged E or S, joined by blanks).
    seed : int
    """

    products: pd.DataFrame
    queries: pd.DataFrame
    judgments: pd.DataFrame
    causes: pd.DataFrame
    seed: int

    def summary(self) -> str:
        """Sizes and planted causes in words."""
        counts = self.causes["cause"].value_counts()
        planted = ", ".join(f"{counts.get(cause, 0)} {cause}" for cause in ("none", *CAUSES))
        return (f"Generated catalogue (seed {self.seed}): {len(self.products)} products, {len(self.queries)} queries, "
                f"{len(self.judgments)} judgments. Planted causes: {planted}.")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary())}</p>"


def generate_catalogue(products: int = 20_000, queries: int = 10_000, seed: int = 0, *, hard_share: float = 0.3,
                       dead_category: bool = True, recall_only_field: bool = False, judged: str = "sample") -> Catalogue:
    """Generate products, queries, graded judgments and the planted cause of each hard query.

    Parameters
    ----------
    products : int
        Number of listings, at least 1,000: fewer cannot hide a product beyond rank 200.
    queries : int
        Number of queries, each with its own text.
    seed : int
        The same seed gives the same tables on every platform.
    hard_share : float
        Share of queries with a planted cause, 0 to 1.
    dead_category : bool
        Whether ``category`` is "Other" everywhere (a field without information); else it is the product's group.
    recall_only_field : bool
        Add a column ``keywords`` with an article code a listing, which no other column holds, and, after the
        other queries, one query in twenty (at least ten) more that asks for such a code. The field finds what no
        other field finds and competes with none: it only adds recall, whatever its weight.
    judged : {"sample", "all"}
        "sample": part of the matching products is judged, as in real judgments. "all": every product that fits or
        partly fits (see :func:`toolkit.datasets.catalogue_truth.complete`); products, queries and causes are
        the same, and so is the label of every sampled pair. An outranked query may then have a real item among
        its first ten that the sample leaves unjudged.

    Returns
    -------
    Catalogue

    Raises
    ------
    ValueError
        If the sizes or the share are out of range, or a planned cause cannot be planted in so few products.
    """
    if products < 1_000 or queries < 1 or not 0 <= hard_share <= 1:
        raise ValueError(f"generate_catalogue: products={products}, queries={queries}, hard_share={hard_share}; expected "
                         "products >= 1000, queries >= 1 and a share from 0 to 1")
    if judged not in JUDGED:
        raise ValueError(f"generate_catalogue: judged={judged!r}; expected one of {JUDGED}")
    stock = _Stock(Draw(seed, stream=1), products)
    shop = Shop(stock.listings, stock.types)
    reach = Reach(stock.listings)
    asked = _ask(Draw(seed, stream=2), stock, shop, reach, queries, hard_share)
    if judged == "all":
        asked = [(band, _judge_all(one, shop, reach)) for band, one in asked]
    table = _products_table(stock, dead_category)
    if recall_only_field:
        table["keywords"] = [_code(number) for number in range(products)]
        asked += [(None, one) for one in _ask_for_codes(Draw(seed, stream=3), table, max(10, queries // 20))]
    return Catalogue(table, *_query_tables(asked), seed)


class _Stock:
    """The listings of a catalogue: theme listings by plan, then groups for negations, then ordinary ones."""

    def __init__(self, draw: Draw, products: int) -> None:
        self.taken: set[str] = set()
        brands = brand_names(draw, min(500, 40 + products // 40))
        self.types = TYPES[:min(len(TYPES), max(24, products // 55))]
        self.themes = _plan_themes(draw, products)
        self.negations = _plan_negations(draw, self.types, products)
        made: list[Listing] = []
        for theme, _, n in self.themes:
            made += [novelty(draw, theme, brands, self.taken) for _ in range(n)]
            made += [quiet(draw, theme, brands, self.taken) for _ in range(4)]
        for kind, feature in self.negations:
            made += [plain(draw, kind, brands, self.taken, features=feature) for _ in range(draw.between(12, 18))]
        made += [plain(draw, kind, brands, self.taken, features=None) for kind in self.types for _ in range(6)]
        while len(made) < products:
            made.append(near_duplicate(draw, made[draw.below(len(made))], self.taken) if draw.chance(5)
                        else plain(draw, draw.early(self.types), brands, self.taken))
        self.listings = draw.some(made[:products], products)


def _plan_themes(draw: Draw, products: int) -> list[tuple[Theme, str, int]]:
    """Themes with the band they plant and their number of novelty listings (15 to 60 % of the catalogue)."""
    big, middle = (7, 8) if products >= 8_000 else (2, 3) if products >= 2_000 else (1, 3)
    small = len(THEMES) - big - middle if products >= 8_000 else 7
    plan = [("beyond 200", 218, 250)] * big + [("51-200", 62, 150 if products >= 8_000 else 80)] * middle + [("11-50", 15, 34)] * small
    return [(theme, band, draw.between(low, high)) for theme, (band, low, high) in zip(draw.some(THEMES, len(plan)), plan, strict=True)]


def _plan_negations(draw: Draw, types: tuple[ProductType, ...], products: int) -> list[tuple[ProductType, str]]:
    """Types and the feature that their negated queries exclude."""
    chosen = draw.some(types, min(len(types), max(6, products // 400)))
    return [(kind, draw.one(kind.features)) for kind in chosen]


def _ask(draw: Draw, stock: _Stock, shop: Shop, reach: Reach, queries: int, hard_share: float) -> list[tuple[str | None, Asked]]:
    """All queries with their band, in drawn order, no text twice."""
    hard = round(queries * hard_share)
    plan = [cause for cause, share in HARD_MIX for _ in range(round(hard * share / 100))][:hard]
    plan += ["none"] * (queries - len(plan))
    makers = _makers(draw, stock, shop, reach)
    texts: set[str] = set()
    return [(band, _until_new(draw, makers[cause], texts, cause, band)) for cause, band in _with_bands(draw.some(plan, queries))]


def _with_bands(plan: list[str]) -> Iterator[tuple[str, str | None]]:
    """Outranked queries go round the bands."""
    bands, turn = list(BANDS), 0
    for cause in plan:
        yield cause, bands[turn % len(bands)] if cause == "outranked" else None
        turn += cause == "outranked"


def _makers(draw: Draw, stock: _Stock, shop: Shop, reach: Reach) -> dict[str, Callable[[str | None], Asked | None]]:
    """Cause -> function of the band that tries to make one query."""
    themes = {band: [theme for theme, planned, _ in stock.themes if planned == band] for band in BANDS}
    return {
        "none": lambda band: ordinary(draw, shop),
        "outranked": lambda band: outranked(draw, shop, reach, draw.one(themes[band]), band),
        "vocabulary_gap": lambda band: vocabulary_gap(draw, shop, reach),
        "misspelling": lambda band: misspelling(draw, shop, reach),
        "negation": lambda band: negation(draw, shop, reach, *draw.one(stock.negations)),
        "no_relevant_indexed": lambda band: no_relevant_indexed(draw, shop, stock.taken),
    }


def _until_new(draw: Draw, make: Callable[[str | None], Asked | None], texts: set[str], cause: str, band: str | None) -> Asked:
    """Try until a query is made whose text is new."""
    for _ in range(TRIES):
        asked = make(band)
        if asked and asked.query not in texts:
            texts.add(asked.query)
            return asked
    raise ValueError(f"generate_catalogue: no new query of cause {cause!r} ({band}) in {TRIES} tries; ask for more products, "
                     "fewer queries or a smaller hard_share")


def _judge_all(asked: Asked, shop: Shop, reach: Reach) -> Asked:
    """The query with complete judgments."""
    lookalikes = (shop.listings[number] for number in reach.alike(asked.query))
    return replace(asked, labels=complete(asked.labels, asked.wish, shop.kin(asked.wish) if asked.wish else (), lookalikes))


def _products_table(stock: _Stock, dead_category: bool) -> pd.DataFrame:
    """The canonical products table."""
    table = pd.DataFrame([{"product_id": listing.product_id, **listing.text} for listing in stock.listings])
    table["locale"] = "us"
    if not dead_category:
        table["category"] = [f"{listing.kind} > {listing.group}" for listing in stock.listings]
    return table.astype("str")


def _code(number: int) -> str:
    """An article code of one term, more than two edits from any word."""
    return f"zx{number:07d}"


def _ask_for_codes(draw: Draw, table: pd.DataFrame, n: int) -> list[Asked]:
    """Queries for one article code each; the listing that has it is the answer."""
    rows = table.iloc[draw.some(range(len(table)), n)]
    return [Asked(row.keywords, "none", {row.product_id: "E"}, None, "asks for the code in keywords") for row in rows.itertuples()]


def _query_tables(asked: list[tuple[str | None, Asked]]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Queries, judgments and causes."""
    ids = [str(100_001 + number) for number in range(len(asked))]
    queries = pd.DataFrame({"query_id": ids, "query": [one.query for _, one in asked]}).astype("str")
    rows = [(query_id, product, label) for query_id, (_, one) in zip(ids, asked, strict=True) for product, label in sorted(one.labels.items())]
    judgments = pd.DataFrame(rows, columns=["query_id", "product_id", "label"]).astype("str")
    judgments["grade"] = judgments["label"].map(GRADES).astype("float64")
    causes = pd.DataFrame({
        "query_id": ids, "cause": [one.cause for _, one in asked], "band": [band for band, _ in asked],
        "noise": [one.noise for _, one in asked], "details": [one.details for _, one in asked],
        "relevant_ids": [" ".join(sorted(p for p, label in one.labels.items() if label in "ES")) for _, one in asked],
    }).astype("str")
    causes.insert(3, "planted_depth", pd.array([one.planted_depth for _, one in asked], dtype="Int64"))
    return queries, judgments, causes
