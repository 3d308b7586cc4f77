"""Outside data to canonical tables, with a report of every row; generators with known truth."""

from toolkit.lazy import attach

# Public name -> module of this room that defines it.
__getattr__, __dir__, __all__ = attach(__name__, {
    "Dataset": "dataset",
    "ESCI_GRADES": "dataset",
    "ReadError": "report",
    "ReadReport": "report",
    "SearchopsLab": "searchops",
    "load_searchops": "searchops",
    "ReadWarning": "report",
    "TableRead": "report",
    "RemoteFile": "download",
    "download_esci": "download",
    "LogTables": "log_tables",
    "load_esci": "esci",
    "join_traces_and_events": "canonical_logs",
    "read_judgments": "judgments",
    "reference_folder": "reference",
    "read_log": "canonical_logs",
    "read_openinference": "openinference",
    "read_otlp": "otlp",
    "read_products": "products",
    "read_rankings": "rankings",
    "read_ubi": "ubi",
    "sample_esci": "sampling",
    "Catalogue": "catalogue",
    "generate_catalogue": "catalogue",
    "EXAMPLE_QUERIES": "sample",
    "RestartRecord": "restarts",
    "load_restart_record": "restarts",
    "load_birthday": "birthday",
    "load_sample": "sample",
    "load_sample_causes": "sample",
})
