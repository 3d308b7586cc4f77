-- One row per retrieval: every flag and value of Layers 1, 2 and 3; null where a row is outside a metric's denominator.
WITH retried AS (SELECT DISTINCT retry_of AS retrieval_id FROM retrievals WHERE retry_of IS NOT NULL),

used_other AS (
    SELECT DISTINCT expected_retrieval_id AS retrieval_id
    FROM actions
    WHERE expected_retrieval_id IS NOT NULL AND (source_retrieval_id IS NULL OR source_retrieval_id <> expected_retrieval_id)
),

facts AS (
    SELECT
        r.retrieval_id, coalesce(r.role, 'unknown') AS grp, $retrieval_unit AS unit,
        CASE WHEN array_size(r.returned_asset_ids) = 0 THEN 1.0 ELSE coalesce(r.sampling_weight, 1.0) END AS weight,
        r.returned_asset_ids IS NOT NULL AS list_known,
        coalesce(array_size(r.returned_asset_ids), 0) AS size,
        coalesce(NOT p.in_scope, FALSE) AS misrouted,
        p.goal_met,
        coalesce(v.certain, FALSE) AS certain,
        r.returned_asset_ids IS NULL
            OR ((coalesce(r.list_cut, FALSE) OR array_size(r.returned_asset_ids) >= $list_limit) AND array_size(r.returned_asset_ids) < $good_k)
            OR array_size(array_distinct(slice(r.returned_asset_ids, 1, $good_k))) > coalesce(v.judged_early, 0) AS open_verdict,
        v.precision_1, v.precision_k, v.ndcg_k, v.judged_k,
        coalesce(e.active_use, FALSE) AS active_use, coalesce(e.agent_use, FALSE) AS agent_use,
        coalesce(e.said_wrong, FALSE) AS said_wrong, t.retrieval_id IS NOT NULL AS retried, o.retrieval_id IS NOT NULL AS used_other,
        coalesce(e.corrected, FALSE) AS corrected, coalesce(e.export, FALSE) AS export, coalesce(e.share, FALSE) AS share,
        coalesce(e.download, FALSE) AS download, coalesce(e.clicked, FALSE) AS clicked, coalesce(e.ladder_step, 1000) AS ladder_step
    FROM retrievals r
    LEFT JOIN evidence e ON r.retrieval_id = e.retrieval_id
    LEFT JOIN verdicts v ON r.retrieval_id = v.retrieval_id
    LEFT JOIN retried t ON r.retrieval_id = t.retrieval_id
    LEFT JOIN used_other o ON r.retrieval_id = o.retrieval_id
    LEFT JOIN prompts p ON r.prompt_id = p.prompt_id
),

combined AS (
    SELECT
        *,
        active_use OR agent_use AS positive,
        said_wrong OR retried OR used_other AS failure,
        export OR share OR download AS goal,
        CASE WHEN certain THEN 'good' WHEN NOT open_verdict THEN 'bad' END AS layer1
    FROM facts
)

SELECT
    retrieval_id, grp, unit, weight, active_use, agent_use, said_wrong, retried, used_other, corrected, positive, failure,
    positive AND failure AS both_kinds, NOT failure AS no_failure, NOT (positive OR failure) AS unobserved,
    export, share, download, goal, goal_met, clicked, ladder_step, layer1,
    CASE WHEN failure OR corrected THEN 'bad' WHEN positive OR goal THEN 'good' ELSE 'unobserved' END AS outcome,
    CASE WHEN list_known AND NOT misrouted THEN size = 0 END AS empty,
    CASE WHEN layer1 IS NOT NULL AND NOT misrouted THEN certain END AS good,
    CASE WHEN NOT misrouted THEN CASE WHEN list_known AND size = 0 THEN coalesce(precision_1, 0.0) ELSE precision_1 END END AS precision_1,
    CASE WHEN NOT misrouted THEN CASE WHEN list_known AND size = 0 THEN coalesce(precision_k, 0.0) ELSE precision_k END END AS precision_k,
    CASE WHEN NOT misrouted THEN ndcg_k END AS ndcg_k,
    CASE WHEN NOT misrouted THEN judged_k END AS judged_k,
    misrouted
FROM combined
