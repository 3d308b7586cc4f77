"""Why queries fail, and whether field weights can help."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "FailureDiagnosis": "buckets",
    "diagnose_failures": "buckets",
    "query_traits": "traits",
    "negations": "negation",
    "share_table": "shares",
    "Headroom": "ceiling",
    "headroom": "ceiling",
    "MissingReasons": "missing",
    "explain_missing": "missing",
    "Recovery": "agreement",
    "recovery": "agreement",
    "QueryCase": "drill",
    "drill_down": "drill",
})
