-- Actions by role and position of their asset in the list of their source (position 0: not found there).
SELECT
    coalesce(role, 'unknown') AS role, position,
    count(*) AS actions,
    count(source_retrieval_id) AS source_logged,
    count(retrieval_id) AS source_resolves,
    count_if(item) AS with_asset,
    count_if(in_list) AS asset_in_list,
    count_if(item AND source_retrieval_id IS NOT NULL) AS uses,
    count_if(off_list) AS off_list,
    count_if(item AND source_retrieval_id IS NOT NULL AND NOT in_list AND NOT off_list) AS no_list
FROM uses
GROUP BY coalesce(role, 'unknown'), position
