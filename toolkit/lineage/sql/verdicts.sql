-- One row per judged retrieval with a logged list. P@k = relevant among the first k / k; NDCG@k = sum over ranks r <= k of
-- grade / log2(r + 1), divided by the same sum in the ideal order (Jarvelin and Kekalainen 2002), null where that is 0.
SELECT
    retrieval_id,
    bool_or(position BETWEEN 1 AND $good_k AND grade >= $good_grade) AS certain,
    count_if(position BETWEEN 1 AND $good_k) AS judged_early,
    CAST(count_if(distinct_rank = 1 AND grade >= $good_grade) AS DOUBLE) AS precision_1,
    count_if(distinct_rank BETWEEN 1 AND $k AND grade >= $good_grade) / CAST($k AS DOUBLE) AS precision_k,
    sum(CASE WHEN distinct_rank BETWEEN 1 AND $k THEN grade / log2(distinct_rank + 1.0) ELSE 0.0 END)
        / nullif(sum(CASE WHEN ideal_rank <= $k THEN grade / log2(ideal_rank + 1.0) ELSE 0.0 END), 0.0) AS ndcg_k,
    count_if(distinct_rank BETWEEN 1 AND $k) / CAST(nullif(least($k, max(distinct_size)), 0) AS DOUBLE) AS judged_k
FROM placed
GROUP BY retrieval_id
