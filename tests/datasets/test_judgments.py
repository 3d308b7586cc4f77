"""read_judgments: every format, every messy case, and no row lost silently."""

import gzip
import json
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.datasets import ReadError, ReadWarning, read_judgments
from toolkit.tables import JUDGMENTS, check


@pytest.fixture
def read(tmp_path):
    """Write content to a file and read it as judgments, warnings silenced."""

    def run(content, name="judgments.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadWarning)
            result = read_judgments(path, **options)
        check(result.table, JUDGMENTS)
        result.report.check()
        return result

    return run


def rows(result):
    return list(result.table[["query_id", "product_id", "grade"]].itertuples(index=False, name=None))


def test_quepid(read):
    result = read("query,docid,rating\nred shoes,1,3\nblue shoes,2,0\n")
    assert rows(result) == [("red shoes", "1", 3.0), ("blue shoes", "2", 0.0)]
    assert list(result.queries["query"]) == ["red shoes", "blue shoes"]
    text = str(result.report)
    assert "column 'docid' read as product_id" in text
    assert "column 'rating' read as grade" in text


@pytest.mark.parametrize(("content", "expected"), [
    (b"\xef\xbb\xbfquery,docid,rating\nq,1,3\n", ("q", "1", 3.0)),
    ("query,docid,rating\nq,1,3\n".encode("utf-16"), ("q", "1", 3.0)),
    (b'query,docid,rating\n"27"" monitor",1,3\n', ('27" monitor', "1", 3.0)),
    (b'query,docid,rating\n27" monitor,1,3\n', ('27" monitor', "1", 3.0)),
    (b'query,docid,rating\n"two\nlines",1,3\n', ("two\nlines", "1", 3.0)),
    ("query,docid,rating\ncafé,1,3\n".encode("latin-1"), ("café", "1", 3.0)),
    ("query,docid,rating\n15\u201d case,1,3\n".encode("cp1252"), ("15\u201d case", "1", 3.0)),
    (b"query;docid;rating\nq;1;3\n", ("q", "1", 3.0)),
    (b"sep=;\nquery;docid;rating\nq;1;3\n", ("q", "1", 3.0)),
    (b"query\tdocid\trating\nq\t1\t3\n", ("q", "1", 3.0)),
    (b"query|docid|rating\nq|1|3\n", ("q", "1", 3.0)),
    (b"query,docid,rating\nq,000123,3\n", ("q", "000123", 3.0)),
    (b"query,docid,rating\nconstructor,1,3\n", ("constructor", "1", 3.0)),
    (b"query,docid,rating\n__proto__,1,3\n", ("__proto__", "1", 3.0)),
    (b"query,docid,rating\nnan,NA,3\n", ("nan", "NA", 3.0)),
    (b"query,docid,rating\nq,1,3\n\n\n", ("q", "1", 3.0)),
    (b"query,docid,rating\r\nq,1,3\r\n", ("q", "1", 3.0)),
    (b"query,docid,rating,comment\nq,1,3,good one\n", ("q", "1", 3.0)),
    (b"query,docid,rating\nq,1,3,,\n", ("q", "1", 3.0)),
    (b"query,docid,rating,comment\nq,1,3\n", ("q", "1", 3.0)),
    (b"query,docid,rating\nq, 1 ,3\n", ("q", "1", 3.0)),
    (b"query,docid,rating\n trailing space ,1,3\n", (" trailing space ", "1", 3.0)),
    (b"Query Id,Product ID,Relevance\n7,1,0.5\n", ("7", "1", 0.5)),
    (b"q,1,3\n", ("q", "1", 3.0)),
    (b"Team Name,Case ID,Query Text,Doc ID,Doc Position,Rating\nt,1,q,1,4,3\n", ("q", "1", 3.0)),
    (b"qid,docno,label\n7,1,Substitute\n", ("7", "1", 2.0)),
    (b"query_id,product_id,label,grade\n7,1,E,3.0\n", ("7", "1", 3.0)),
])
def test_a_messy_file_keeps_its_row(read, content, expected):
    result = read(content)
    assert rows(result) == [expected]
    assert (result.report.read, result.report.kept) == (1, 1)


@pytest.mark.parametrize(("rating", "reason"), [
    ("", "rating is empty"), ("Infinity", "rating is not a finite number"), ("nan", "rating is not a finite number"),
    ("1e999", "rating is not a finite number"), ("-2", "rating is negative"), ("0x10", "rating is not a decimal number"),
    ("1_000", "rating is not a decimal number"), ("3,5", "rating is not a decimal number"), ("\u0663", "rating is not a decimal number"),
    ("good", "rating is not a decimal number"),
])
def test_a_bad_rating_is_set_aside_with_its_reason(read, rating, reason):
    content = f"query;docid;rating\nq;1;3\nq;2;{rating}\n"
    result = read(content)
    assert rows(result) == [("q", "1", 3.0)]
    assert result.report.count("set_aside", reason) == 1
    with pytest.raises(ReadError) as error:
        read(content, strict=True)
    message = str(error.value)
    assert message.startswith(f"judgments.csv row 3: {reason}")
    assert "remove the row or give a grade" in message
    assert repr(rating) in message


@pytest.mark.parametrize(("line", "reason"), [
    ("q,2,3,surplus", "more fields than the header's 3"),
    ("q,2", "fewer fields than the header's 3"),
    ("q,,3", "product_id is empty"),
    (",2,3", "query_id is empty"),
])
def test_a_row_of_the_wrong_shape_is_set_aside(read, line, reason):
    content = f"query,docid,rating\nq,1,3\n{line}\n"
    result = read(content)
    assert rows(result) == [("q", "1", 3.0)]
    assert result.report.count("set_aside", reason) == 1
    with pytest.raises(ReadError, match=r"row 3"):
        read(content, strict=True)


@pytest.mark.parametrize(("policy", "grade"), [("first", 1.0), ("last", 2.0), ("max", 3.0)])
def test_a_pair_with_several_ratings(read, policy, grade):
    content = "query,docid,rating\nq,1,1\nq,1,3\nq,1,1\nq,1,2\n"
    result = read(content, on_conflict=policy)
    assert rows(result) == [("q", "1", grade)]
    assert result.report.folded == (1 if policy == "first" else 0)
    assert result.report.count("set_aside", "another grade for a pair") == (2 if policy == "first" else 3)
    with pytest.raises(ReadError, match="another grade for a pair"):
        read(content, strict=True)


def test_repairs_are_counted_on_kept_rows(read):
    result = read('query,docid,rating\n27" monitor,1,3\n27" tv,2,oops\nq, 3,1\n')
    assert result.report.repaired == 2
    assert "quote mark taken literally" in str(result.report)
    assert "space around product_id removed" in str(result.report)


def test_the_warning_names_the_reasons(tmp_path):
    (tmp_path / "j.csv").write_text("query,docid,rating\nq,1,-1\nq,2,1\n")
    with pytest.warns(ReadWarning, match="1 set aside: rating is negative"):
        read_judgments(tmp_path / "j.csv")


def test_columns_and_labels_by_the_users_word(read):
    result = read("phrase,article,note\nq,1,Top\nq,2,flop\n", columns={"query": "phrase", "product_id": "article", "label": "note"},
                  labels={"top": 2, "flop": 0})
    assert rows(result) == [("q", "1", 2.0), ("q", "2", 0.0)]
    assert list(result.table["label"]) == ["Top", "flop"]


def test_labels_need_valid_grades(read):
    with pytest.raises(ReadError, match="finite and 0 or more"):
        read("query,docid,rating\nq,1,bad\n", labels={"bad": -1})


def test_an_unknown_header_is_an_error_that_lists_it(read):
    with pytest.raises(ReadError, match=r"no column for product_id.*'article'.*columns="):
        read("query,article,rating\nq,1,3\n")
    with pytest.raises(ReadError, match="does not fit"):
        read("query,docid,rating\nq,1,3\n", columns={"product_id": "article"})
    with pytest.raises(ReadError, match="empty|no delimiter"):
        read("")
    with pytest.raises(ReadError, match="no such file"):
        read_judgments("nowhere.csv")


def test_latin1_is_told(read):
    assert "read as cp1252" in str(read("query,docid,rating\ncafé,1,3\n".encode("latin-1")).report)
    with pytest.raises(ReadError, match="not valid utf-8"):
        read("query,docid,rating\ncafé,1,3\n".encode("latin-1"), encoding="utf-8")


def test_gzip_and_parquet(read, tmp_path):
    assert rows(read(gzip.compress(b"query,docid,rating\nq,1,3\n"), "j.csv.gz")) == [("q", "1", 3.0)]
    pd.DataFrame({"query_id": [7, 8], "product_id": ["a", None], "grade": [2, 1]}).to_parquet(tmp_path / "j.parquet")
    result = read((tmp_path / "j.parquet").read_bytes(), "j.parquet")
    assert rows(result) == [("7", "a", 2.0)]
    assert result.report.count("set_aside", "product_id is empty") == 1


def test_qrels(read):
    result = read("1 0 000123 3\n1 0 a 0\n1\t0\tb\t-1\n# note\n1 0 c\n\n", "qrels.txt")
    assert rows(result) == [("1", "000123", 3.0), ("1", "a", 0.0)]
    assert result.report.count("set_aside", "negative") == 1
    assert result.report.count("set_aside", "4 words") == 1
    assert result.report.count("noted", "comment") == 1
    with pytest.raises(ReadError, match="use read_rankings"):
        read("1 Q0 a 1 2.5 tag\n", "run.txt")


def test_a_headerless_tab_table_is_not_taken_for_qrels(read):
    assert rows(read("red shoes\td1\t3\n", "j.tsv")) == [("red shoes", "d1", 3.0)]


REQUEST = {"requests": [
    {"id": "q1", "request": {"query": {"multi_match": {"query": "red shoes", "fields": ["title"]}}},
     "ratings": [{"_index": "p", "_id": "1", "rating": 3}, {"_index": "p", "_id": "2", "rating": 0}]},
    {"id": "q2", "template_id": "t", "params": {"query_string": "constructor"}, "ratings": [{"_index": "p", "_id": "1", "rating": 1}]},
    {"id": "q3", "request": {"query": {"match_all": {}}}, "ratings": []}]}


def test_rank_eval_request(read):
    result = read(json.dumps(REQUEST), "request.json")
    assert rows(result) == [("q1", "1", 3.0), ("q1", "2", 0.0), ("q2", "1", 1.0)]
    assert dict(zip(result.queries["query_id"], result.queries["query"])) == {"q1": "red shoes", "q2": "constructor"}
    assert result.report.count("noted", "query without ratings") == 1


def test_rank_eval_response_has_only_returned_ratings(read):
    response = {"metric_score": 0.5, "details": {"q1": {"unrated_docs": [{"_id": "2"}], "hits": [
        {"hit": {"_index": "p", "_id": "1", "_score": 2.0}, "rating": 3}, {"hit": {"_index": "p", "_id": "2", "_score": 1.0}, "rating": None}]}},
        "failures": {}}
    for body in (response, {"rank_eval": response}):
        result = read(json.dumps(body), "response.json")
        assert rows(result) == [("q1", "1", 3.0)]
        assert result.report.count("noted", "unjudged") == 1


def test_workbench_ratings_are_strings(read):
    entry = {"name": "x", "judgmentRatings": [{"query": "red dress", "ratings": [
        {"docId": "B1", "rating": "3.000"}, {"docId": "B2", "rating": "Infinity"}, {"docId": "B3", "rating": 0}]}]}
    for body in (entry, [entry], {"hits": {"hits": [{"_id": "j", "_source": entry}]}}, {"_source": entry}):
        result = read(json.dumps(body), "workbench.json")
        assert rows(result) == [("red dress", "B1", 3.0), ("red dress", "B3", 0.0)]
        assert result.report.set_aside == 1


def test_json_objects_nested_and_repeated_keys(read):
    assert rows(read('[{"query": "q", "docid": 7, "rating": "2"}]', "j.json")) == [("q", "7", 2.0)]
    assert rows(read('{"query": "q", "docid": 12345678901234567890, "rating": 2}\nnot json\n', "j.jsonl")) == [("q", "12345678901234567890", 2.0)]
    result = read('{"q": {"a": 1, "a": 2, "b": NaN}}', "j.json")
    assert rows(result) == [("q", "a", 1.0)]
    assert (result.report.read, result.report.set_aside) == (3, 2)


@pytest.mark.parametrize(("content", "told"), [
    (b"\xff\xfea\x00b", "not valid utf-16"), (b"\xef\xbb\xbfquery,docid,rating\ncaf\xe9,1,3\n", "not valid utf-8-sig at byte"),
    (b'{"q": ' + b"[" * 100_000, "not JSON"), (b'{"q": ' + b"1" * 5_000 + b"}", "not JSON"), (b" \n\n", "the file is empty"), (b"", "the file is empty")],
    ids=["utf-16", "utf-8 with a mark", "deep", "long number", "blank", "empty"])
def test_an_unreadable_file_is_a_read_error(tmp_path, content, told):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ReadError, match=f"^x.*{told}"):
        read_judgments(tmp_path / "x")


def test_a_damaged_archive_and_an_unknown_encoding_are_read_errors(tmp_path):
    packed = bytearray(gzip.compress(b"query_id,product_id,grade\n" + b"q,1,3\n" * 2_000))
    packed[14] ^= 0x55
    packed[15] ^= 0xFF
    (tmp_path / "x.gz").write_bytes(packed)
    with pytest.raises(ReadError, match="damaged gzip file"):
        read_judgments(tmp_path / "x.gz")
    (tmp_path / "x.csv").write_text("query,docid,rating\nq,1,3\n")
    with pytest.raises(ReadError, match="encoding 'nope' is not known"):
        read_judgments(tmp_path / "x.csv", encoding="nope")


def test_broken_json_is_an_error_with_its_place(read):
    with pytest.raises(ReadError, match="line 2 column"):
        read('{"requests": [\n oops ]}', "request.json")


@pytest.mark.reference
@pytest.mark.parametrize(("name", "read_rows", "kept"), [
    ("esci150/qrels.txt", 6678, 6678), ("esci150/examples.csv", 6678, 6678),
    ("conformance/trec_eval_v10/qrels.test.with-comments", 3681, 3681),
    ("conformance/trec_eval_v10/qrels.rel_level", 3681, 3377),
    ("conformance/ranx/qrels.json", 5, 5), ("conformance/ranx/qrels.trec", 5, 5), ("conformance/ir_measures/cwl.qrels", 23, 23),
])
def test_reference_files(reference_data, name, read_rows, kept):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        report = read_judgments(reference_data / name).report.check()
    assert (report.read, report.kept) == (read_rows, kept)


MESSY = st.text(st.sampled_from('ab",;\t 03-.é\\'), max_size=6)
LINE = st.one_of(st.builds(",".join, st.lists(MESSY, min_size=1, max_size=5)),
                 st.builds("{},{},{}".format, st.sampled_from(["q1", "q2", 'x" y']), st.sampled_from(["d1", "007", " d2 "]),
                           st.sampled_from(["0", "3", "1.5", "", "-2", "Infinity", "0x10", "E"])))


@settings(max_examples=100, deadline=None)
@given(lines=st.lists(LINE, max_size=25), final=st.sampled_from(["", "\n", "\r\n\n"]))
def test_every_row_of_a_random_messy_file_is_accounted_for(tmp_path_factory, lines, final):
    path = tmp_path_factory.mktemp("messy") / "j.csv"
    path.write_bytes(("query,docid,rating\n" + "\n".join(lines) + final).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        table, report = read_judgments(path)
    assert report.read == report.kept + report.folded + report.set_aside
    assert report.kept == len(table)
    assert not table.duplicated(["query_id", "product_id"]).any()
    assert table["grade"].ge(0).all()
    # Every physical line with content belongs to a counted row: none vanished before counting.
    content = sum(bool(line.strip(" \t\r")) for line in lines)
    spans = report.count("noted", "line breaks")
    assert report.read <= content
    assert report.read == content or spans > 0
