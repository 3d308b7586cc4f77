-- One row per session: product health, without the lineage join.
SELECT
    session_id, 'all' AS grp, session_id AS unit, 1.0 AS weight,
    bool_or(action = 'export') AS export, bool_or(action = 'share') AS share, bool_or(action = 'download') AS download
FROM (
    SELECT session_id, '' AS action FROM prompts
    UNION ALL
    SELECT session_id, '' AS action FROM retrievals
    UNION ALL
    SELECT session_id, coalesce(action, '') AS action FROM actions
) s
WHERE session_id IS NOT NULL
GROUP BY session_id
