/** What finds and removes the oldest answers of an organization that has too many. */
export const agesOfAnswers = `
-- The sizes are in the index, so that they are added up without a look at the rows, which have the short answers in them. The index that it
-- replaces goes first: that locks the table against all others at once. A transaction that had read an answer, and then waited for the new
-- index to be built, would be in a deadlock with a drop that follows.
drop index if exists idempotent_answers_bytes;
create index if not exists idempotent_answers_age on idempotent_answers (org_id, expires_at, id) include (answer_bytes)
  where expires_at is not null;
`
