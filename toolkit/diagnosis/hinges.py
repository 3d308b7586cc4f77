"""One query's documents along one weight: each is flat, then rises; where two cross, they change places."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolkit.diagnosis.weight_space import weight_space
from toolkit.search.config import MultiMatch


def query_hinges(lists: object, judgments: pd.DataFrame, query_id: str, field: str, base: MultiMatch) -> pd.DataFrame:
    """Listed documents of one query as functions of one field's weight x: ``max(rest, x * own)``.

    In logarithms each is a hinge: flat at ``log rest``, then rising with slope 1 from
    ``log x = log rest - log own`` on. Multiplying all weights by a number shifts the whole picture.

    Parameters
    ----------
    lists : FieldLists, WeightSpace or DataFrame
    judgments : DataFrame
    query_id : str
    field : str
    base : MultiMatch
        Weights of the other fields.

    Returns
    -------
    DataFrame
        product_id, rest (best weighted score of the other fields; null if none lists it), own
        (unboosted score of the field; null if it is not in the field's list), grade (null if unjudged),
        score (at the base weight), best score first.
    """
    space = weight_space(lists)
    if query_id not in space.query_ids or field not in space.fields:
        raise ValueError(f"query_hinges: query {query_id!r} and field {field!r}; listed are {len(space.query_ids)} queries "
                         f"(for example {list(space.query_ids[:2])}) and fields {list(space.fields)}")
    q, f = space.query_ids.index(query_id), space.fields.index(field)
    own = np.full(space.pointer[q + 1] - space.pointer[q], np.nan)
    rest = own.copy()
    for g, name in enumerate(space.fields):
        docs, scores = space.doc[q, g, :space.length[q, g]], space.score[q, g, :space.length[q, g]]
        if g == f:
            own[docs] = scores
        elif name in base.fields:
            rest[docs] = np.fmax(rest[docs], scores * base.fields[name])
    table = pd.DataFrame({"product_id": pd.array(space.product_ids[space.pointer[q]:space.pointer[q + 1]], dtype="str"), "rest": rest, "own": own})
    grade = judgments[judgments["query_id"] == query_id].drop_duplicates("product_id").set_index("product_id")["grade"]
    table["grade"] = table["product_id"].map(grade).astype("float64")
    table["score"] = np.fmax(rest, own * base.fields.get(field, 0.0))
    listed = table[table["rest"].notna() | table["own"].notna()]  # a weight of 0 also knows matches beyond the lists
    return listed.sort_values(["score", "product_id"], ascending=[False, True], ignore_index=True)
