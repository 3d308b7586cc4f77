-- Retrievals that the session rule credits: whether one returned an asset of a credited outcome, and whether one's source resolves.
SELECT
    c.retrieval_id,
    coalesce(bool_or(array_contains(r.returned_asset_ids, o.consumed_asset_id) OR array_contains(x.asset_ids, o.consumed_asset_id)), FALSE) AS returned,
    bool_or(o.resolves) AS resolves,
    bool_or(array_size(r.returned_asset_ids) = 0) AS empty
FROM credits c
JOIN outcomes o ON c.action_id = o.action_id
JOIN retrievals r ON c.retrieval_id = r.retrieval_id
LEFT JOIN executed x ON c.retrieval_id = x.retrieval_id
GROUP BY c.retrieval_id
