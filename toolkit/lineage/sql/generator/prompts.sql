SELECT
    'p' || d.p AS prompt_id, 's' || (d.p // 3) AS session_id, 'u' || (d.p // 6) AS user_id,
    make_timestamptz_ms(1772438400000 + ((d.p // 3) % 2 * 86400 + (d.p // 6) % 36000 + d.p % 3 * 120) * 1000) AS time,
    CASE WHEN (d.p // 3) % 3 = 0 THEN 'library' ELSE 'chat' END AS entry_point, d.in_scope, d.n_intents, coalesce(g.goal_met, FALSE) AS goal_met
FROM drawn_prompts d
LEFT JOIN (SELECT p, bool_or(goal) AS goal_met FROM outcome GROUP BY p) g ON d.p = g.p
