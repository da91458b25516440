/** What tells how many deliveries of a webhook are pending, without a look at those that ended. */
export const pendingDeliveries = `
create index if not exists webhook_deliveries_pending on webhook_deliveries (webhook_id)
  where next_attempt_at is not null;
`
