-- One row per retrieval id: the first non-empty list in time order, else an unlogged one, else an empty one; earliest time, first text.
WITH ordered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY retrieval_id
            ORDER BY
                CASE WHEN returned_asset_ids IS NULL THEN 1 WHEN array_size(returned_asset_ids) > 0 THEN 0 ELSE 2 END,
                coalesce(time_ms, 9223372036854775807), query
        ) AS choice,
        min(time_ms) OVER (PARTITION BY retrieval_id) AS first_ms,
        row_number() OVER (
            PARTITION BY retrieval_id
            ORDER BY CASE WHEN query IS NULL THEN 1 ELSE 0 END, coalesce(time_ms, 9223372036854775807), query
        ) AS text_choice,
        count(*) OVER (PARTITION BY retrieval_id) AS executions
    FROM executions
),

texts AS (SELECT retrieval_id, query AS first_query FROM ordered WHERE text_choice = 1)

SELECT
    o.retrieval_id, o.prompt_id, o.request_id, o.session_id, o.user_id, o.first_ms AS time_ms, t.first_query AS query, o.role,
    o.returned_asset_ids, o.displayed, o.displayed_asset_ids, o.retry_of, o.sampling_weight, o.list_cut, o.executions
FROM ordered o
JOIN texts t ON o.retrieval_id = t.retrieval_id
WHERE o.choice = 1
