"""Arms as metric tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def make_arm():
    """``make_arm(ndcg values, judged=0.9)``: ndcg@10, judged@10 and zero_result_rate of one arm."""
    def arm(values, judged=0.9):
        ids = [str(i) for i in range(len(values))]
        columns = {"ndcg@10": np.asarray(values, dtype=float), "judged@10": judged, "zero_result_rate": 0.0}
        return pd.concat([pd.DataFrame({"query_id": ids, "metric": m, "value": np.broadcast_to(v, len(ids)).astype(float)}) for m, v in columns.items()])
    return arm
