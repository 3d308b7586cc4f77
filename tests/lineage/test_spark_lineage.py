"""A real local Spark session counts the same tables as DuckDB and the reference."""

import os
import shutil
import sys

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from tests.conftest import missing
from toolkit.lineage import Faults, World, attribution_gap, inherit_sources, outcomes, simulate
from toolkit.lineage.scale import count_log
from toolkit.lineage.scale_sources import write_log

# On a machine busy with other work, Spark's many small jobs take minutes instead of seconds.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def spark():
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        missing("SPARK", "there is no Java")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        missing("SPARK", "PySpark is not installed (optional extra spark)")
    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (SparkSession.builder.master("local[2]").appName("lineage").config("spark.ui.enabled", "false")
               .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.memory", "1g")
               .config("spark.sql.shuffle.partitions", "1").config("spark.sql.adaptive.enabled", "false")
               # Compiling each query takes far longer than running it on so few rows.
               .config("spark.sql.codegen.wholeStage", "false").config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
               .config("spark.sql.session.timeZone", "UTC")
               .config("spark.log.level", "ERROR").getOrCreate())
    yield session
    session.stop()
    os.environ.pop("PYSPARK_PYTHON") if before is None else os.environ.update(PYSPARK_PYTHON=before)


@pytest.fixture(scope="module")
def simulation():
    faults = Faults(source=0.1, consumed=0.1, actor=0.1, lists=0.1, display=0.2, role=0.1, retrieval_user=0.1, action_session=0.1, prompt=0.1, labels=0.2)
    return simulate(World(users=25, judged=0.6, later_session=0.4), faults, seed=4)


@pytest.fixture(scope="module")
def folder(simulation, tmp_path_factory):
    return write_log(simulation.log, tmp_path_factory.mktemp("log"))


def test_one_sql_text_gives_the_same_tables_on_both_engines(spark, folder, simulation):
    from toolkit.lineage.spark import count_log_on_spark

    found, expected = count_log_on_spark(spark, folder, progress=False), count_log(folder, progress=False)
    assert_frame_equal(found.to_frame(), expected.to_frame(), rtol=1e-9)
    assert_frame_equal(found.positions, expected.positions)
    assert found.sizes == expected.sizes
    reference = outcomes(simulation.log).table
    assert found.outcomes.table["count"].tolist() == reference["count"].tolist() and reference["count"].sum() > 0


@pytest.mark.parametrize("rule", ["any_touch", "last_touch"])
def test_credits_by_whole_users_give_the_gap_of_the_reference(spark, folder, simulation, rule):
    from toolkit.lineage.spark import count_gap_on_spark

    found, expected = count_gap_on_spark(spark, folder, rule, partitions=3), attribution_gap(simulation.log, rule)
    assert_frame_equal(found.table, expected.table, check_dtype=False)
    assert (found.n, found.abandoned, found.repeated) == (expected.n, expected.abandoned, expected.repeated)


def test_inherited_sources_by_whole_users(spark):
    from toolkit.lineage.spark import by_user
    from toolkit.lineage.users import inherit_user_sources

    rows = [(f"{user}-{i}", user, *row) for user in ("u1", "u2", "u3") for i, row in enumerate([
        ("place", f"{user}d1", "a", f"{user}r1"), ("place", f"{user}d2", f"{user}d1", None), ("export", f"{user}d2", None, None),
        ("edit", f"{user}d1", None, "r9"), ("export", "gone", None, None)])]
    names = ["action_id", "user_id", "action", "placed_id", "consumed_asset_id", "source_retrieval_id"]
    made = by_user(spark.createDataFrame(rows, ", ".join(f"{name} string" for name in names)), inherit_user_sources,
                   "action_id string, source_retrieval_id string, problem string", partitions=3)
    expected = inherit_sources(pd.DataFrame(rows, columns=names))
    found = {row.action_id: (row.source_retrieval_id, row.problem) for row in made.collect()}
    problems = expected.problems.set_index("action_id")["problem"].to_dict()
    assert found == {row.action_id: (None if pd.isna(row.source_retrieval_id) else row.source_retrieval_id, problems.get(row.action_id))
                     for row in expected.table.itertuples()}
    assert set(problems.values()) == {"overwrite", "broken chain"}


def test_a_session_of_another_time_zone_is_refused(spark):
    from toolkit.lineage.spark import SparkEngine

    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    with pytest.raises(ValueError, match="UTC"):
        SparkEngine(spark)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
