-- What a session rule sees: retrievals and outcomes of each owner, as the steps in users.py take them.
SELECT $owner AS key, 'touch' AS kind, retrieval_id AS id, time_ms FROM retrievals WHERE $owner IS NOT NULL
UNION ALL
SELECT $owner AS key, 'outcome' AS kind, action_id AS id, time_ms FROM outcomes WHERE $owner IS NOT NULL
