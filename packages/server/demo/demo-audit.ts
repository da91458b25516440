import { openIds } from '../core/ids.ts'
import { insertAuditEntry } from '../storage/events/audit-log.ts'
import type { DemoDeps } from './demo-deps.ts'
import { createSeededRandom, pick } from './seeded-random.ts'

const DAY_MS = 86_400_000

const CHANGES = [
  {
    operation: 'keys.create',
    kind: 'keys',
    weight: 4,
    before: null,
    after: { name: 'web-backend', kind: 'secret' },
  },
  {
    operation: 'keys.revoke',
    kind: 'keys',
    weight: 2,
    before: { revoked_at: null },
    after: { revoked_at: 'now' },
  },
  { operation: 'limits.update', kind: 'limits', weight: 3, before: { limit: 60 }, after: { limit: 120 } },
  {
    operation: 'budgets.update',
    kind: 'budgets',
    weight: 2,
    before: { limit_usd: 400 },
    after: { limit_usd: 500 },
  },
  {
    operation: 'environments.update',
    kind: 'environments',
    weight: 1,
    before: { log_capture: 'metadata' },
    after: { log_capture: 'full' },
  },
  {
    operation: 'model_aliases.update',
    kind: 'model_aliases',
    weight: 3,
    before: { strategy: 'priority' },
    after: { strategy: 'lowest_cost' },
  },
  { operation: 'session.create', kind: 'session', weight: 8, before: null, after: null },
  {
    operation: 'provider_credentials.validate',
    kind: 'provider_credentials',
    weight: 2,
    before: null,
    after: { validation_error: null },
  },
  { operation: 'members.invite', kind: 'members', weight: 1, before: null, after: { role: 'developer' } },
] as const

/** Writes what the members did in the last 90 days. */
export async function createAuditEntries(
  deps: DemoDeps,
  orgId: string,
  userIds: readonly string[],
  count: number,
): Promise<void> {
  const random = createSeededRandom(11)
  const times = Array.from({ length: count }, () => deps.clock.now() - random() * 89 * DAY_MS).sort(
    (a, b) => a - b,
  )
  await deps.db.transaction().execute(async tx => {
    for (const at of times) {
      const clock = { now: () => Math.floor(at) }
      const { operation, kind, before, after } = pick(CHANGES, random)
      const actorId = userIds[Math.floor(random() ** 2 * userIds.length)] ?? null
      const entry = {
        orgIds: [orgId],
        actor: { kind: 'member', id: actorId } as const,
        operation,
        resource: { kind, id: deps.newId() },
        before,
        after,
        clientAddress: `203.0.113.${1 + Math.floor(random() * 60)}`,
        requestId: deps.newId(),
      }
      await insertAuditEntry(tx, entry, { clock, newId: openIds(clock, deps.random) })
    }
  })
}
