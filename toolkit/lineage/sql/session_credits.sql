-- Any touch: every retrieval of the outcome's session is credited.
SELECT o.action_id, r.retrieval_id
FROM outcomes o
JOIN retrievals r ON o.session_id = r.session_id
