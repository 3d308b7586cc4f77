-- What really happened, from what was drawn and not from the log.
SELECT
    'r' || o.r AS retrieval_id, o.role, o.good, o.size = 0 AS empty, o.used OR (o.goal AND o.displayed) AS active_use,
    o.agent OR t.r IS NOT NULL AS agent_use, o.wrong AS said_wrong, x.retry_of IS NOT NULL AS retried, o.other AS used_other, o.corrected, o.goal
FROM outcome o
LEFT JOIN (SELECT DISTINCT retry_of FROM outcome WHERE retry_of IS NOT NULL) x ON o.r = x.retry_of
LEFT JOIN (SELECT DISTINCT before AS r FROM outcome WHERE other AND before // 2 = p) t ON o.r = t.r
