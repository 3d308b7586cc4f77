-- Retrievals by the rule, by lineage, and the cause where the two differ (names as in gap.py).
SELECT
    CASE
        WHEN by_rule AND NOT by_lineage AND empty THEN 'empty credited'
        WHEN by_rule AND NOT by_lineage AND NOT resolves THEN 'source never logged'
        WHEN by_rule AND NOT by_lineage AND returned THEN 'repeated retrieval'
        WHEN by_rule AND NOT by_lineage THEN 'bystander'
        WHEN by_lineage AND NOT by_rule AND same_session THEN 'another retrieval credited'
        WHEN by_lineage AND NOT by_rule AND session_lost THEN 'session not logged'
        WHEN by_lineage AND NOT by_rule THEN 'other session'
        WHEN by_rule THEN 'both'
        ELSE 'neither'
    END AS cause,
    count(*) AS retrievals
FROM (
    SELECT
        u.retrieval_id IS NOT NULL AS by_rule, s.retrieval_id IS NOT NULL AS by_lineage,
        coalesce(u.empty, FALSE) AS empty, coalesce(u.resolves, FALSE) AS resolves, coalesce(u.returned, FALSE) AS returned,
        s.same_session, s.session_lost
    FROM retrievals r
    LEFT JOIN ruled u ON r.retrieval_id = u.retrieval_id
    LEFT JOIN supplied s ON r.retrieval_id = s.retrieval_id
) g
GROUP BY 1
