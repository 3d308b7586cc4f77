-- Events by kind. A user's event may come in the user's next session; impressions fill up to the number of events asked for.
SELECT
    'e' || (r * 64 + kind) AS action_id,
    make_timestamptz_ms(time_ms + CAST(CASE WHEN moves THEN 86400 ELSE 0 END + 1 + delay AS BIGINT) * 1000) AS time,
    's' || (session + CAST(moves AS INT)) AS session_id, 'u' || person AS user_id,
    CASE WHEN same_request THEN 'q' || p ELSE 'later' || (r * 64 + kind) END AS request_id, actor, action,
    CASE WHEN spot IS NOT NULL THEN asset_of(start, step, spot) END AS consumed_asset_id,
    'r' || source AS source_retrieval_id, 'r' || expected AS expected_retrieval_id, CAST(spot + 1 AS DOUBLE) AS position
FROM (
    SELECT
        *,
        actor = 'user' AND source IS NOT NULL AND session % 2 = 0 AND draw(r * 64 + kind, 21) < $later_session AS moves,
        CASE WHEN same_request THEN draw(r * 64 + kind, 22) * 10 ELSE -300 * ln(1 - draw(r * 64 + kind, 22)) END AS delay
    FROM (
        SELECT r, p, session, person, time_ms, start, step, r AS source, NULL::BIGINT AS expected, 1 AS kind, 'user' AS actor,
            ['select', 'edit', 'place'][1 + below(r * 512 + 100, 3)] AS action, best AS spot, FALSE AS same_request FROM outcome WHERE used
        UNION ALL
        SELECT r, p, session, person, time_ms, start, step, r, NULL, 2, 'user', 'select', best, FALSE FROM outcome WHERE used AND draw(r, 23) < 0.3
        UNION ALL
        SELECT r, p, session, person, time_ms, start, step, r, NULL, 3, 'user', ['export', 'share', 'download'][1 + below(r * 512 + 101, 3)], best, FALSE
        FROM outcome WHERE goal
        UNION ALL
        SELECT r, p, session, person, time_ms, start, step, r, NULL, 4, 'agent', 'place', best, TRUE FROM outcome WHERE agent
        UNION ALL
        SELECT r, p, session, person, time_ms, before_start, 1, before, r, 5, 'agent', 'place', 0, TRUE FROM outcome WHERE other
        UNION ALL
        SELECT r, p, session, person, time_ms, start, step, r, NULL, 6, 'user', 'reject_result', NULL, FALSE FROM outcome WHERE wrong
        UNION ALL
        SELECT r, p, session, person, time_ms, start, step, r, NULL, 7, 'user', 'correct_output', NULL, FALSE FROM outcome WHERE corrected
        UNION ALL
        SELECT r, p, session, person, time_ms, start, step, NULL, NULL, 8, 'user', 'follow_up', NULL, FALSE FROM outcome WHERE draw(r, 24) < 0.2
        UNION ALL
        SELECT r, p, session, person, time_ms, start, step, r, NULL, 10 + spot, 'user', 'impression', spot, FALSE
        FROM (SELECT *, unnest(range(least(size, $whole + CAST(draw(r, 25) < $fraction AS INT)))) AS spot FROM outcome)
    )
)
