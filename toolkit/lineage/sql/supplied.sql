-- Retrievals that lineage credits: whether in their own session, and whether a session is not logged.
SELECT
    source_retrieval_id AS retrieval_id,
    coalesce(bool_or(session_id = source_session_id), FALSE) AS same_session,
    bool_or(session_id IS NULL OR source_session_id IS NULL) AS session_lost
FROM outcomes
WHERE resolves
GROUP BY source_retrieval_id
