-- One row per retrieval with what came of it; "before" is the previous retrieval of its session.
SELECT
    *,
    CASE WHEN before_used = FALSE AND draw(r, 18) < $retry THEN before END AS retry_of,
    coalesce(size > 0 AND before_size > 0 AND draw(r, 19) < $other, FALSE) AS other
FROM (
    SELECT
        *, lag(r) OVER w AS before, lag(used) OVER w AS before_used, lag(size) OVER w AS before_size, lag(start) OVER w AS before_start
    FROM (
        SELECT *, (used OR agent) AND draw(r, 15) < $goal AS goal, displayed AND NOT good AND NOT used AND draw(r, 16) < $wrong AS wrong,
            (used OR agent) AND draw(r, 17) < $correction AS corrected
        FROM (
            SELECT *, displayed AND draw(r, 14) < (CASE WHEN good THEN $use ELSE $masking END) AS used
            FROM (SELECT *, size > 0 AND NOT (agent AND role = 'generation_reference') AND draw(r, 13) < $display AS displayed FROM drawn)
        )
    )
    WINDOW w AS (PARTITION BY session ORDER BY r)
)
