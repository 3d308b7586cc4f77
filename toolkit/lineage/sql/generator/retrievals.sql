SELECT
    'r' || r AS retrieval_id, 'p' || p AS prompt_id, 'q' || p AS request_id, 's' || session AS session_id, 'u' || person AS user_id,
    make_timestamptz_ms(time_ms) AS time, 'need ' || start AS query, role, list_of(start, step, size) AS returned_asset_ids, displayed,
    CASE WHEN displayed THEN list_of(start, step, least(size, 5)) ELSE [] END AS displayed_asset_ids, 'r' || retry_of AS retry_of,
    CASE WHEN draw(r, 20) < $judged THEN CAST(1 / $judged AS DOUBLE) END AS sampling_weight
FROM outcome
