-- One row per prompt: the Layer 0 flags, null outside the metric's denominator.
SELECT
    p.prompt_id, coalesce(p.entry_point, 'unknown') AS grp, $prompt_unit AS unit, coalesce(p.sampling_weight, 1.0) AS weight,
    r.prompt_id IS NOT NULL AS retrieved,
    CASE WHEN r.prompt_id IS NOT NULL AND p.in_scope IS NOT NULL THEN NOT p.in_scope END AS misroute,
    CASE WHEN p.in_scope THEN r.prompt_id IS NULL END AS missed,
    p.n_intents >= 2 AS multi_intent
FROM prompts p
LEFT JOIN (SELECT DISTINCT prompt_id FROM retrievals WHERE prompt_id IS NOT NULL) r ON p.prompt_id = r.prompt_id
