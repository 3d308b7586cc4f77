"""Parity report: thousands of random (query, configuration) pairs on the embedded engine and a running Elasticsearch.

Writes ``build/parity.md`` (counts by cause, every differing pair) and returns its totals. Needs an
Elasticsearch (``ELASTICSEARCH_URL``, or Maven and a JDK); esci150 is used where the reference data is found.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from tests.elasticsearch_node.node import running_url
from tests.parity.pairs import compare_engines, differing, noisy_queries, spoiled
from toolkit.datasets import generate_catalogue, load_esci
from toolkit.search import ElasticsearchEngine, EmbeddedEngine, MultiMatch

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "build" / "parity.md"
DEPTH, PER_CONFIG = 200, 5
CATALOGUE_FIELDS = ("title", "brand", "bullet_point", "description", "category")
ESCI_FIELDS = ("title", "brand", "bullet_point", "description", "color")
WEIGHTS = {"title": 4, "brand": 2, "bullet_point": 1, "description": 1}


def run(quick: bool = False) -> dict[str, float]:
    """Compare, write the report, return the totals."""
    data = generate_catalogue(2_000 if quick else 20_000, 1_000 if quick else 10_000, seed=1)
    sets = {"catalogue": (data.products, data.queries, CATALOGUE_FIELDS, 300 if quick else 2_500)}
    reference = Path(os.environ.get("TOOLKIT_REFERENCE_DATA", ROOT.parent / "shared" / "data")) / "esci150"
    if reference.is_dir():
        esci = load_esci(reference)
        sets["esci150"] = (esci.products, esci.queries, ESCI_FIELDS, 150 if quick else 600)
    with running_url() as url:
        tables = [_compare(url, name, *rest) for name, rest in sets.items()]
    table = pd.concat(tables, ignore_index=True)
    rates = {f"irreproducible_share_{name}": _irreproducible(products, queries, fields)
             for name, (products, queries, fields, _) in sets.items()}
    totals = pd.DataFrame([_totals(part) | {"data": name, "fuzziness": fuzziness}
                           for (name, fuzziness), part in table.groupby(["data", "fuzziness"], sort=False)])
    _write(totals, rates, differing(table))
    numbers = {f"parity_fuzzy_{fuzziness.lower()}_{key}": value
               for fuzziness, part in table.groupby("fuzziness") for key, value in _totals(part).items()}
    return numbers | rates


def _compare(url: str, name: str, products: pd.DataFrame, queries: pd.DataFrame, fields: tuple[str, ...], pairs: int) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    products = spoiled(products, fields, rng) if name == "catalogue" else products
    ours = EmbeddedEngine.build(products, fields)
    theirs = ElasticsearchEngine(url, f"parity-{name}", exact_totals=True, timeout=120)
    theirs.create_index(products, fields, replace=True)
    parts = []
    for fuzziness in (0, "AUTO"):
        asked = noisy_queries(queries, products, pairs, rng)
        groups = compare_engines(ours, theirs, asked, fields, fuzziness, per_config=PER_CONFIG, depth=DEPTH, rng=rng)
        found = pd.concat(tqdm(groups, total=pairs // PER_CONFIG, desc=f"parity {name}, fuzziness {fuzziness}"))
        parts.append(found.assign(data=name, fuzziness=str(fuzziness)))
    theirs.connection.client.indices.delete(index=theirs.index)
    return pd.concat(parts)


def _totals(table: pd.DataFrame) -> dict[str, float]:
    """Counts of one part of the comparison, by cause."""
    different = differing(table)
    return {
        "pairs": len(table), "failed": int(table["failed"].sum()), "scored": int(table["shared"].sum()),
        "equal_scores": int(table["equal_scores"].sum()), "equal_lists": int(table["same_list"].sum()),
        "equal_totals": int(table["same_total"].sum()), "irreproducible": int(table["irreproducible"].sum()),
        "differing_irreproducible": int(different["irreproducible"].sum()),
        "differing_unexplained": int((~different["irreproducible"]).sum()),
    }


def _irreproducible(products: pd.DataFrame, queries: pd.DataFrame, fields: tuple[str, ...]) -> float:
    """Share of the data's own queries that Elasticsearch does not score reproducibly (or, AUTO, all fields)."""
    engine = EmbeddedEngine.build(products, fields)
    config = MultiMatch({name: WEIGHTS.get(name, 1.2) for name in fields})
    return float(np.mean([engine.plan(text, config).irreproducible for text in tqdm(queries["query"], desc="irreproducible")]))


def _write(totals: pd.DataFrame, rates: dict[str, float], different: pd.DataFrame) -> None:
    columns = ["data", "fuzziness", *(name for name in totals.columns if name not in ("data", "fuzziness"))]
    lines = ["# Parity of the embedded engine with Elasticsearch", "", f"Top {DEPTH}, random configurations and noise.", "",
             _markdown(totals[columns]), "", "`irreproducible`: queries whose scores Elasticsearch itself does not reproduce after a restart; "
             "`differing_unexplained` must be 0.", ""]
    lines += [f"- {name}: {value:.4f}" for name, value in rates.items()]
    lines += ["", "## Differing pairs", "", _markdown(different.drop(columns="query_id"))]
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join(lines) + "\n")


def _markdown(table: pd.DataFrame) -> str:
    rows = [list(table.columns), ["---"] * table.shape[1], *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows)
