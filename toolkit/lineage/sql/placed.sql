-- Judged pairs of logged lists: position in the list (0: not there), rank among its distinct assets, rank in the ideal order.
SELECT
    retrieval_id, grade, position, distinct_rank, distinct_size,
    row_number() OVER (PARTITION BY retrieval_id ORDER BY grade DESC) AS ideal_rank
FROM (
    SELECT
        j.retrieval_id, j.grade,
        CAST(coalesce(array_position(r.returned_asset_ids, j.asset_id), 0) AS INT) AS position,
        array_size(array_distinct(r.returned_asset_ids)) AS distinct_size,
        CASE
            WHEN coalesce(array_position(r.returned_asset_ids, j.asset_id), 0) > 0
                THEN array_size(array_distinct(slice(r.returned_asset_ids, 1, CAST(array_position(r.returned_asset_ids, j.asset_id) AS INT))))
            ELSE 0
        END AS distinct_rank
    FROM judged j
    JOIN retrievals r ON j.retrieval_id = r.retrieval_id
    WHERE r.returned_asset_ids IS NOT NULL
) p
