-- Empty results at three grains; executions without a logged list are left out.
WITH known AS (
    SELECT retrieval_id, coalesce(query, '') AS query, array_size(returned_asset_ids) AS size
    FROM executions
    WHERE returned_asset_ids IS NOT NULL
),

calls AS (SELECT retrieval_id, query, max(size) AS size FROM known GROUP BY retrieval_id, query),

ids AS (SELECT retrieval_id, max(size) AS size FROM calls GROUP BY retrieval_id)

SELECT 1 AS grain, coalesce(count_if(size = 0), 0) AS empty, count(*) AS n FROM known
UNION ALL
SELECT 2 AS grain, coalesce(count_if(size = 0), 0) AS empty, count(*) AS n FROM calls
UNION ALL
SELECT 3 AS grain, coalesce(count_if(size = 0), 0) AS empty, count(*) AS n FROM ids
ORDER BY grain
