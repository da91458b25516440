import type { Logger } from 'pino'
import { refreshModels } from '../../control/provider-credentials/refresh-models.ts'
import type { SecretBox } from '../../core/access/secret-box.ts'
import { systemClock } from '../../core/clock.ts'
import { runAll } from '../../core/run-all.ts'
import { chargeLookupsTo, type EgressPolicy } from '../../http/egress/egress.ts'
import { guardedRequest } from '../../http/egress/guarded-request.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import { type AlertsJob, openAlertsJob } from '../../jobs/alerts-job.ts'
import { openDeletedPlansJob } from '../../jobs/deleted-plans-job.ts'
import { openDeletedSecretsJob } from '../../jobs/deleted-secrets-job.ts'
import { openIdempotencyJob } from '../../jobs/idempotency-job.ts'
import { type ModelListsJob, openModelListsJob } from '../../jobs/model-lists-job.ts'
import { openRetentionJob } from '../../jobs/retention-job.ts'
import { openSecretOptionsJob } from '../../jobs/secret-options-job.ts'
import { openSigningKeysJob } from '../../jobs/signing-keys-job.ts'
import { openWebhookJob } from '../../jobs/webhook-job.ts'
import { AlertSweep } from '../../storage/events/alert-sweep.ts'
import { raiseAlerts, removeEndedAlerts } from '../../storage/events/alerts.ts'
import {
  claimDueDeliveries,
  DELIVERIES,
  removeEndedDeliveries,
  updateDeliveryOutcome,
} from '../../storage/events/webhook-deliveries.ts'
import { expireAnswers } from '../../storage/idempotency/expire-answers.ts'
import { removeExpiredCreates } from '../../storage/idempotency/idempotent-creates.ts'
import { updateSigningKeys } from '../../storage/keys/signing-keys.ts'
import { removeExpiredCircuits } from '../../storage/models/circuits.ts'
import { claimDueRefreshes, REFRESHES } from '../../storage/models/model-list-refreshes.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { clearDeletedPlans } from '../../storage/policies/deleted-plans.ts'
import type { Db } from '../../storage/pool.ts'
import { DueOwners } from '../../storage/queue-turns.ts'
import { applyRetention } from '../../storage/records/retention.ts'
import { removeDeletedSecrets } from '../../storage/secrets/remove-deleted-secrets.ts'
import { sealClearOptions } from '../../storage/secrets/seal-clear-options.ts'

/** A delivery that takes longer has failed and is retried. */
const TIMEOUT_MS = 10_000
/** Much longer than a delivery or a refresh takes, so that no other process repeats it while it runs. */
const LEASE_MS = 120_000
/** The limit of a receiver's response, which is ignored. */
const MAX_BYTES = 65_536
/** How long ended deliveries, and alerts whose window has ended, are kept. */
const KEPT_MS = 30 * 86_400_000

interface Parts {
  readonly storage: Storage
  readonly log: Logger
}

interface JobParts extends Parts {
  readonly secretBox: SecretBox
  readonly newId: () => string
  /** For the URLs of webhooks and providers. */
  readonly egress: EgressPolicy
  /** What the kept answers of one environment may take in the database. */
  readonly idempotencyBytes: number
  readonly closers: (() => Promise<void> | void)[]
}

/**
 * Starts the scheduled jobs that every process runs. Resolves once there are signing keys for client tokens, and secret
 * options that an earlier version stored in clear are encrypted.
 */
export async function openJobs(parts: JobParts): Promise<void> {
  const { storage, log, secretBox, newId, idempotencyBytes, closers } = parts
  const retention = openRetentionJob({
    clock: systemClock,
    apply: async (now, signal) => {
      // Each is done though the other fails.
      const [applied, removed] = await Promise.allSettled([
        applyRetention(storage.pool, now, signal),
        removeExpiredCreates(storage.db, now),
      ])
      if (applied.status === 'fulfilled' && removed.status === 'fulfilled') return applied.value
      const reasons = [applied, removed].flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
      throw new AggregateError(reasons, reasons.join('; '))
    },
    log,
  })
  closers.push(() => retention.close())
  const idempotency = openIdempotencyJob({
    expire: signal => expireAnswers(storage.pool, { maxBytes: idempotencyBytes, signal }),
    log,
  })
  closers.push(() => idempotency.close())
  const plans = openDeletedPlansJob({ clear: signal => clearDeletedPlans(storage.pool, signal), log })
  closers.push(() => plans.close())
  const secrets = openDeletedSecretsJob({ remove: signal => removeDeletedSecrets(storage.db, signal), log })
  closers.push(() => secrets.close())
  const signing = await openSigningKeysJob({
    clock: systemClock,
    rotate: now => updateSigningKeys(storage.db, { secretBox, newId }, now),
    log,
  })
  closers.push(() => signing.close())
  const options = await openSecretOptionsJob({ seal: () => sealClearOptions(storage.db, secretBox), log })
  closers.push(() => options.close())
  const deliveries = openDeliveries(parts)
  closers.push(() => deliveries.close())
  const modelLists = openModelLists(parts)
  closers.push(() => modelLists.close())
}

function openModelLists({ storage, log, secretBox, newId, egress }: JobParts): ModelListsJob {
  const services = { db: storage.db, secretBox, egress, clock: systemClock, newId }
  const owners = new DueOwners(REFRESHES)
  return openModelListsJob({
    claim: room => claimDueRefreshes(storage.db, systemClock.now(), room, LEASE_MS, owners),
    refresh: (credential, signal) => refreshModels(credential, services, signal),
    log,
  })
}

function openDeliveries({ storage, log, secretBox, egress }: JobParts): { close(): Promise<void> } {
  const owners = new DueOwners(DELIVERIES)
  return openWebhookJob({
    clock: systemClock,
    secretBox,
    claim: room => claimDueDeliveries(storage.db, systemClock, room, LEASE_MS, owners),
    post: (url, headers, body, orgId) => {
      const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }
      // Few deliveries of an organization are sent at once, so each receiver may be a tenant of its own.
      const policy = chargeLookupsTo(egress, toLookupOwner(`webhook ${url}`, orgId))
      return guardedRequest(url, { method: 'POST', headers, body, policy, ...limits })
    },
    update: (delivery, outcome) => updateDeliveryOutcome(storage.db, delivery, outcome),
    log,
  })
}

/** Starts the job that raises alerts of budgets and quotas. `settle` writes the records of the journal to the database. */
export function openAlerts(
  { storage, log }: Parts,
  newId: () => string,
  settle: () => Promise<void>,
): AlertsJob {
  const tools = { clock: systemClock, newId }
  const onFailure = (error: unknown, orgIds: readonly string[]): void =>
    log.error(
      { err: error, orgId: orgIds[0], organizations: orgIds.length },
      'usage of organizations could not be read for alerts; retrying in the next sweep',
    )
  const alerts = new AlertSweep(storage, { onFailure })
  return openAlertsJob({
    clock: systemClock,
    raise: settled => raiseAlerts(storage.db, settled, tools),
    async *sweep(since, at, signal, again) {
      await removeEnded(storage.db, at, signal).catch(error =>
        log.error(
          { err: error },
          'ended deliveries, alerts or circuits could not be removed; retrying in the next sweep',
        ),
      )
      await settle()
      yield* alerts.run(since, at, again)
    },
    log,
  })
}

/** Removes deliveries, alerts and circuits that ended, each though the others fail. `at`: Unix milliseconds. */
async function removeEnded(db: Db, at: number, signal: AbortSignal): Promise<void> {
  const before = new Date(at - KEPT_MS)
  await runAll([
    () => removeEndedDeliveries(db, before, signal),
    () => removeEndedAlerts(db, before, signal),
    () => removeExpiredCircuits(db, new Date(at), signal),
  ])
}
