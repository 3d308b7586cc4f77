-- Evidence for each retrieval that is the logged source of an action: flags per retrieval, never per event.
SELECT
    retrieval_id,
    bool_or(action IN $use_actions AND $by_user AND supplied AND $seen) AS active_use,
    min(CASE WHEN $by_user AND supplied AND $seen THEN $ladder_step END) AS ladder_step,
    bool_or(actor = 'agent' AND supplied AND same_request) AS agent_use,
    bool_or(actor = 'user' AND action = $reject) AS said_wrong,
    bool_or(actor = 'user' AND action = $correct) AS corrected,
    bool_or(actor = 'user' AND action = 'export' AND supplied) AS export,
    bool_or(actor = 'user' AND action = 'share' AND supplied) AS share,
    bool_or(actor = 'user' AND action = 'download' AND supplied) AS download,
    bool_or(action IN $clicks) AS clicked
FROM uses
WHERE retrieval_id IS NOT NULL
GROUP BY retrieval_id
