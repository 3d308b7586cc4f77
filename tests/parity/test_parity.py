"""The embedded engine against a running Elasticsearch: equal lists, totals, and scores to the last bit.

The full run (thousands of pairs on 20,000 products) is ``benchmarks/parity.py``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.parity.pairs import compare_engines, differing, noisy_queries, random_config, spoiled
from toolkit.datasets import generate_catalogue, load_esci
from toolkit.search import ElasticsearchEngine, EmbeddedEngine

pytestmark = pytest.mark.elasticsearch

FIELDS = {"catalogue": ("title", "brand", "bullet_point", "description", "category"),
          "esci150": ("title", "brand", "bullet_point", "description", "color")}
PAIRS, PER_CONFIG, DEPTH = 150, 6, 200


@pytest.fixture(scope="module", params=list(FIELDS))
def engines(request, elasticsearch_url):
    rng = np.random.default_rng(7)
    if request.param == "catalogue":
        data = generate_catalogue(2_000, 400, seed=3)
        products = spoiled(data.products, FIELDS["catalogue"], rng)
    else:
        data = load_esci(request.getfixturevalue("reference_data") / "esci150")
        products = data.products
    fields, index = FIELDS[request.param], f"test-parity-{request.param}"
    theirs = ElasticsearchEngine(elasticsearch_url, index, exact_totals=True)
    theirs.create_index(products, fields, replace=True, progress=False)
    yield EmbeddedEngine.build(products, fields, progress=False), theirs, noisy_queries(data.queries, products, 2 * PAIRS, rng), fields
    theirs.connection.client.indices.delete(index=index)


def compared(engines, fuzziness: int | str, half: int) -> pd.DataFrame:
    ours, theirs, queries, fields = engines
    asked = queries.iloc[half * PAIRS:(half + 1) * PAIRS]
    table = pd.concat(compare_engines(ours, theirs, asked, fields, fuzziness, per_config=PER_CONFIG, depth=DEPTH,
                                      rng=np.random.default_rng(half)), ignore_index=True)
    assert len(table) == PAIRS and table["shared"].sum() > 1_000  # or there was nothing to compare
    return table


def test_without_fuzziness_every_score_and_list_is_equal(engines) -> None:
    table = compared(engines, 0, 0)
    assert not table["irreproducible"].any()
    assert differing(table).empty, differing(table).to_string()


def test_with_fuzziness_all_but_the_irreproducible_are_equal(engines) -> None:
    table = compared(engines, "AUTO", 1)
    unexplained = differing(table[~table["irreproducible"]])
    assert unexplained.empty, unexplained.to_string()
    assert table["irreproducible"].mean() < 0.15


def test_explanations_are_the_same_numbers(engines) -> None:
    ours, theirs, queries, fields = engines
    rng, compared = np.random.default_rng(3), 0
    for row in queries.iloc[:30].itertuples():
        config = random_config(fields, ("AUTO", 0)[rng.integers(2)], rng)
        run = ours.run(pd.DataFrame({"query_id": ["q"], "query": [row.query]}), config, 5)
        if run.rankings.empty or run.status["irreproducible"][0]:
            continue
        last = run.rankings["product_id"].iloc[-1]
        a, b = ours.explain(row.query, last, config), theirs.explain(row.query, last, config)
        assert (a.score, a.matched, a.terms) == (b.score, b.matched, b.terms)
        pd.testing.assert_frame_equal(*(one.field_scores().sort_values("field", ignore_index=True) for one in (a, b)))
        order = ["field", "term"]
        columns = [*order, "tf", "df", "documents", "length", "score"]
        pd.testing.assert_frame_equal(*(one.table.sort_values(order, ignore_index=True)[columns] for one in (a, b)))
        compared += 1
    assert compared >= 10
