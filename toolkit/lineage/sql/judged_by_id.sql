-- Judged pairs, given by retrieval.
SELECT DISTINCT retrieval_id, asset_id, grade FROM judgments WHERE retrieval_id IS NOT NULL
