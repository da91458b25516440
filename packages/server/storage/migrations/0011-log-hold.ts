/** What a request held of its limits, and what somebody thought of the answer. */
export const sql = `
alter table request_logs
  -- null: no limit of tokens or money concerned the request.
  add column hold_tokens bigint,
  add column hold_nano_usd bigint,
  -- { score, comment, tags, created_at }; the last one counts.
  add column feedback jsonb;
`
