-- Outcomes whose asset stands in the lists of two or more retrievals of the same owner up to then.
SELECT count(*) AS outcomes
FROM (
    SELECT o.action_id
    FROM outcomes o
    JOIN retrievals r ON o.$owner = r.$owner
    WHERE array_contains(r.returned_asset_ids, o.consumed_asset_id) AND (r.time_ms <= o.time_ms OR r.time_ms IS NULL OR o.time_ms IS NULL)
    GROUP BY o.action_id
    HAVING count(*) >= 2
) t
