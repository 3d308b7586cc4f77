-- Assets that any execution of a retrieval id returned.
SELECT retrieval_id, flatten(array_agg(returned_asset_ids)) AS asset_ids
FROM executions
WHERE returned_asset_ids IS NOT NULL
GROUP BY retrieval_id
