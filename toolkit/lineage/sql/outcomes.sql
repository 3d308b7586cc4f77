-- The outcomes: user actions of the named kinds (an unlogged actor counts as the user), and whether their source is in the log.
SELECT
    a.action_id, a.session_id, a.user_id, a.time_ms, a.consumed_asset_id, a.source_retrieval_id,
    r.retrieval_id IS NOT NULL AS resolves, r.session_id AS source_session_id
FROM actions a
LEFT JOIN retrievals r ON a.source_retrieval_id = r.retrieval_id
WHERE a.action IN $outcomes AND (a.actor IS NULL OR a.actor = 'user')
