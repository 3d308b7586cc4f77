-- One row per prompt: its labels and whether it retrieved.
SELECT p, in_scope, n_intents, CASE WHEN in_scope THEN draw(p, 11) >= $missed ELSE draw(p, 11) < $misroute END AS retrieved
FROM (
    SELECT range AS p, draw(range, 9) < $in_scope AS in_scope, 1 + CAST(draw(range, 10) < $multi_intent AS INT) AS n_intents
    FROM range($prompts)
)
