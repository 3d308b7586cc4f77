-- One row per retrieval: what is drawn for it. r = 2 * prompt + its number within the prompt; three prompts a session, two sessions a user.
SELECT
    p, p // 3 AS session, p // 6 AS person, r, role,
    1772438400000 + ((p // 3) % 2 * 86400 + (p // 6) % 36000 + p % 3 * 120 + 2 + 5 * (r % 2)) * 1000 AS time_ms,
    start, step, size, good AND size > 0 AS good,
    CASE WHEN good THEN hit ELSE 0 END AS best,
    size > 0 AND role IN ('operate_on', 'generation_reference', 'task_step') AND draw(r, 8) < $agent_use AS agent
FROM (
    SELECT
        p, r, leader,
        below(leader * 32 + 1, $assets) AS start, 1 + below(leader * 32 + 2, ($assets - 1)) AS step,
        CASE WHEN draw(leader, 3) < $empty THEN 0 ELSE $list_length END AS size,
        draw(leader, 4) < $quality AS good, below(leader * 32 + 5, 5) AS hit,
        CASE WHEN draw(r, 6) < 0.3 THEN 'find' WHEN draw(r, 6) < 0.45 THEN 'browse' WHEN draw(r, 6) < 0.55 THEN 'operate_on'
            WHEN draw(r, 6) < 0.8 THEN 'generation_reference' WHEN draw(r, 6) < 0.95 THEN 'task_step' ELSE 'context_dependent' END AS role
    FROM (
        SELECT p, 2 * p + nth AS r, 2 * (CASE WHEN p % 3 > 0 AND draw(p, 7) < $repeat THEN p - 1 ELSE p END) + nth AS leader
        FROM (SELECT p, unnest(range(CASE WHEN in_scope THEN n_intents ELSE 1 END)) AS nth FROM drawn_prompts WHERE retrieved)
    )
)
