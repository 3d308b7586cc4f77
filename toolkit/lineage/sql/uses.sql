-- Each action with what the log says of it and its source retrieval.
-- Unlogged fields prove nothing and contradict nothing: "supplied" and "hidden" are what remains observed (see evidence.py).
SELECT
    a.action, a.actor, a.source_retrieval_id, a.retrieval_id, a.role, a.same_request, a.item, a.position,
    a.retrieval_id IS NOT NULL AND a.item AND a.list_known AND a.position <> 0 AS in_list,
    a.retrieval_id IS NOT NULL AND a.item AND a.list_known AND a.position = 0 AND NOT a.cut AS off_list,
    a.item AND NOT (a.list_known AND a.position = 0 AND NOT a.cut) AS supplied,
    a.nothing_shown OR (a.shown_known AND a.item AND NOT a.in_shown) AS hidden,
    NOT a.nothing_shown AND a.shown_known AND a.item AND a.in_shown AS shown
FROM (
    SELECT
        a.action, a.actor, a.source_retrieval_id, r.retrieval_id, r.role,
        coalesce(a.request_id = r.request_id, FALSE) AS same_request,
        a.consumed_asset_id IS NOT NULL AS item,
        r.returned_asset_ids IS NOT NULL AS list_known,
        coalesce(r.list_cut, FALSE) OR coalesce(array_size(r.returned_asset_ids) >= $list_limit, FALSE) AS cut,
        CASE
            WHEN coalesce(array_position(r.returned_asset_ids, a.consumed_asset_id), 0) > 0
                THEN CAST(array_position(r.returned_asset_ids, a.consumed_asset_id) AS BIGINT)
            WHEN coalesce(array_contains(x.asset_ids, a.consumed_asset_id), FALSE)
                THEN -1 -- returned, but by another execution of the id
            ELSE 0
        END AS position,
        coalesce(NOT r.displayed, FALSE) AS nothing_shown,
        r.displayed_asset_ids IS NOT NULL AS shown_known,
        coalesce(array_contains(r.displayed_asset_ids, a.consumed_asset_id), FALSE) AS in_shown
    FROM actions a
    LEFT JOIN retrievals r ON a.source_retrieval_id = r.retrieval_id
    LEFT JOIN executed x ON a.source_retrieval_id = x.retrieval_id
) a
