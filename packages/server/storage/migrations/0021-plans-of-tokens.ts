/** A token's plan is its end user's record's, which each request looks up, or else the one that was named when the token was made. */
export const plansOfTokens = `
-- The column plan_cleared_at stays: processes of an earlier version that still run read it.
drop trigger if exists note_cleared_plan on end_users;
drop function if exists note_cleared_plan();
`
