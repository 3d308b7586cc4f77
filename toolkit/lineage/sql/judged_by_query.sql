-- Judged pairs, given by query text and spread over the retrievals of that text.
SELECT DISTINCT r.retrieval_id, j.asset_id, j.grade
FROM judgments j
JOIN retrievals r ON j.query = r.query
