-- Sessions of supplying retrievals that themselves contain no outcome.
SELECT count(*) AS sessions
FROM (SELECT DISTINCT source_session_id AS session_id FROM outcomes WHERE resolves AND source_session_id IS NOT NULL) s
WHERE NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.session_id = s.session_id)
