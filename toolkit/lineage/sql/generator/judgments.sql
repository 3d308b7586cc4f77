SELECT
    'r' || r AS retrieval_id, asset_of(start, step, spot) AS asset_id,
    CAST(CASE WHEN good AND spot = best THEN 3 ELSE below(r * 512 + spot, 2) END AS DOUBLE) AS grade
FROM (SELECT *, unnest(range(size)) AS spot FROM outcome WHERE draw(r, 20) < $judged)
