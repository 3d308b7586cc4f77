"""read_rankings: every format, order rules, and query statuses."""

import json
import warnings

import pytest

from toolkit.datasets import ReadError, ReadWarning, read_rankings
from toolkit.tables import RANKINGS, check


@pytest.fixture
def read(tmp_path):
    def run(content, name="run.txt", **options):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadWarning)
            result = read_rankings(path, **options)
        check(result.table, RANKINGS)
        result.report.check()
        return result

    return run


def rows(result):
    return list(result.table[["query_id", "product_id", "rank"]].itertuples(index=False, name=None))


def test_trec_run_is_ordered_by_score_and_not_by_its_rank_column(read):
    result = read("1 Q0 a 1 0.5 tag\n1 Q0 c 2 0.9 tag extra words\n1 Q0 b 3 0.9 tag\n2\tQ0\t007\t0\t-1e-3\ttag\n1 Q0 d 4\n")
    assert rows(result) == [("1", "b", 1), ("1", "c", 2), ("1", "a", 3), ("2", "007", 1)]
    assert result.table["score"].tolist() == [0.9, 0.9, 0.5, -0.001]
    assert result.report.count("noted", "words after the run tag") == 1
    assert result.report.count("set_aside", "6 words") == 1


def test_qrels_are_refused(read):
    with pytest.raises(ReadError, match="use read_judgments"):
        read("1 0 a 3\n")


def test_delimited_by_rank_from_zero(read):
    result = read("query,docid,rank,score\nq,b,1,1.0\nq,a,0,2.0\n", "run.csv")
    assert rows(result) == [("q", "a", 1), ("q", "b", 2)]
    assert result.report.count("noted", "ranks are renumbered from 1") == 1
    assert list(result.queries["query"]) == ["q"]


def test_rank_wins_over_a_contradicting_score_and_it_is_noted(read):
    result = read("query_id;product_id;rank;score\n1;a;1;1.0\n1;b;2;9.0\n", "run.csv")
    assert rows(result) == [("1", "a", 1), ("1", "b", 2)]
    assert result.report.count("noted", "score rises") == 1


def test_order_of_the_file_where_there_is_nothing_else(read):
    result = read("query\tdocid\nq\tz\nq\ta\n", "run.tsv")
    assert rows(result) == [("q", "z", 1), ("q", "a", 2)]
    assert result.report.count("noted", "order of the file") == 1
    assert "score" not in result.table


def test_a_product_twice_in_one_list(read):
    result = read("query,docid,rank\nq,a,1\nq,a,2\nq,b,3\n", "run.csv")
    assert rows(result) == [("q", "a", 1), ("q", "b", 2)]
    assert result.report.count("set_aside", "again in the same list") == 1


def test_bad_scores_are_set_aside(read):
    content = "query,docid,score\nq,a,NaN\nq,b,\nq,c,1\n"
    result = read(content, "run.csv")
    assert rows(result) == [("q", "c", 1)]
    assert result.report.set_aside == 2
    with pytest.raises(ReadError, match=r"run.csv row 2: score is not a finite number, got 'NaN'"):
        read(content, "run.csv", strict=True)


def test_rank_eval_response_with_statuses(read):
    body = {"details": {"q1": {"hits": [{"hit": {"_id": "b", "_score": 2.5}, "rating": 3}, {"hit": {"_id": "a", "_score": 2.5}, "rating": None}]},
                        "q2": {"hits": []}}, "failures": {"q3": {"error": "parse_exception"}}}
    result = read(json.dumps(body), "response.json")
    assert rows(result) == [("q1", "b", 1), ("q1", "a", 2)]
    assert result.status.values.tolist()[0][:2] == ["q1", "ok"]
    assert dict(zip(result.status["query_id"], result.status["status"])) == {"q1": "ok", "q2": "zero_results", "q3": "failed"}
    assert "parse_exception" in result.status.set_index("query_id").loc["q3", "reason"]
    with pytest.raises(ReadError, match="holds ratings"):
        read(json.dumps({"requests": []}), "request.json")


def test_nested_json_and_objects(read):
    assert rows(read('{"q": {"a": 0.1, "b": 0.3}}', "run.json")) == [("q", "b", 1), ("q", "a", 2)]
    assert rows(read('[{"qid": 1, "doc_id": "a", "position": 1}]', "run.json")) == [("1", "a", 1)]
    assert rows(read('{"qid": 1, "doc_id": "a", "position": 1}\n{"qid": 1, "doc_id": "b", "position": 2}', "run.jsonl")) == [("1", "a", 1), ("1", "b", 2)]


def test_workbench_results_ask_for_the_configuration(read):
    body = json.dumps({"results": [{"queryText": "tv", "snapshots": [
        {"searchConfigurationId": "one", "docIds": ["a", "b"]}, {"searchConfigurationId": "two", "docIds": []}]}]})
    with pytest.raises(ReadError, match="'one', 'two'"):
        read(body, "results.json")
    assert rows(read(body, "results.json", configuration="one")) == [("tv", "a", 1), ("tv", "b", 2)]
    empty = read(body, "results.json", configuration="two")
    assert empty.table.empty
    assert empty.status["status"].tolist() == ["zero_results"]


@pytest.mark.reference
@pytest.mark.parametrize(("name", "kept"), [
    ("esci150/run_external_top10.trec", 1500), ("conformance/trec_eval_v10/results.test", 1500),
    ("conformance/trec_eval_v10/results.trunc", 584), ("conformance/ranx/run.json", 5), ("conformance/ir_measures/compat.run", 1927),
])
def test_reference_files(reference_data, name, kept):
    table, report = read_rankings(reference_data / name)
    assert report.kept == len(table) == kept
    assert (table.groupby("query_id")["score"].diff().dropna() <= 0).all()
