-- Empty results at three grains. An unlogged list may hold something: a call or an id with one is counted only where another list does.
WITH sizes AS (
    SELECT retrieval_id, coalesce(query, '') AS query, array_size(returned_asset_ids) AS size
    FROM executions
),

calls AS (SELECT max(size) AS size, count(*) = count(size) AS logged FROM sizes GROUP BY retrieval_id, query),

ids AS (SELECT max(size) AS size, count(*) = count(size) AS logged FROM sizes GROUP BY retrieval_id)

SELECT 1 AS grain, coalesce(count_if(size = 0), 0) AS empty, count(size) AS n FROM sizes
UNION ALL
SELECT 2 AS grain, coalesce(count_if(size = 0 AND logged), 0) AS empty, coalesce(count_if(size > 0 OR logged), 0) AS n FROM calls
UNION ALL
SELECT 3 AS grain, coalesce(count_if(size = 0 AND logged), 0) AS empty, coalesce(count_if(size > 0 OR logged), 0) AS n FROM ids
ORDER BY grain
