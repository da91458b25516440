import { sql } from 'kysely'
import type { CircuitRow } from '../event-tables.ts'
import { type EventDeps, insertSystemEvent } from '../events/system-events.ts'
import { type Page, selectPage } from '../page.ts'
import type { Db } from '../pool.ts'
import { removeInBatches } from '../remove-in-batches.ts'

/** The state of a circuit as the gateway that changed it knows it. */
export interface StoredCircuit {
  readonly credentialId: string
  readonly provider: string
  /** The model's name at its provider. */
  readonly model: string
  readonly isOpen: boolean
  /** True if the circuit opened since it was last stored, false after a failed probe. */
  readonly isOpening: boolean
  readonly failureRate: number
  /** Unix milliseconds, like all times here. */
  readonly openedAt: number
  readonly retryAt: number
  readonly expiresAt: number
}

/**
 * Stores a circuit, and creates the event `circuit.open` if it opened and no other gateway stored that before. Does nothing
 * if its credential was removed.
 */
export async function storeCircuit(db: Db, circuit: StoredCircuit, deps: EventDeps): Promise<void> {
  await db.transaction().execute(async tx => {
    const credential = await tx
      .selectFrom('provider_credentials')
      .select(['org_id', 'project_id', 'environment_id', 'name'])
      .where('id', '=', circuit.credentialId)
      .forKeyShare()
      .executeTakeFirst()
    if (credential === undefined) return
    const { name, ...owner } = credential
    const isNew = await writeRow(tx, circuit, owner, deps)
    if (isNew && circuit.isOpening) await insertOpening(tx, circuit, { ...owner, name }, deps)
  })
}

type Owner = Pick<CircuitRow, 'org_id' | 'project_id' | 'environment_id'>

/** Writes the row. Returns true if there was no row of an open circuit. */
async function writeRow(tx: Db, circuit: StoredCircuit, owner: Owner, deps: EventDeps): Promise<boolean> {
  const { credentialId, provider, model, isOpen, failureRate, openedAt, retryAt, expiresAt } = circuit
  const now = new Date(deps.clock.now())
  const changing = {
    state: isOpen ? ('open' as const) : ('closed' as const),
    retry_at: isOpen ? new Date(retryAt) : null,
    updated_at: now,
    expires_at: new Date(expiresAt),
  }
  const opening = { failure_rate: failureRate, opened_at: new Date(openedAt), ...changing }
  const inserted = await tx
    .insertInto('circuits')
    .values({ id: deps.newId(), ...owner, credential_id: credentialId, provider, model, ...opening })
    .onConflict(conflict => conflict.columns(['credential_id', 'model']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted !== undefined) return true
  const ofTarget = tx
    .updateTable('circuits')
    .where('credential_id', '=', credentialId)
    .where('model', '=', model)
  const wasClosed = await ofTarget
    .set(opening)
    .where(eb => eb.or([eb('state', '=', 'closed'), eb('expires_at', '<=', now)]))
    .returning('id')
    .executeTakeFirst()
  if (wasClosed !== undefined) return true
  await ofTarget.set(changing).execute()
  return false
}

async function insertOpening(
  tx: Db,
  { credentialId, provider, model, failureRate, openedAt, retryAt }: StoredCircuit,
  { org_id, project_id, environment_id, name }: Owner & { readonly name: string },
  deps: EventDeps,
): Promise<void> {
  const data = {
    provider_credential_id: credentialId,
    org_id,
    project_id,
    environment_id,
    provider,
    model: `${provider}/${model}`,
    name,
    failure_rate: failureRate,
    opened_at: new Date(openedAt).toISOString(),
    retry_at: new Date(retryAt).toISOString(),
  }
  const resource = { kind: 'provider_credentials', id: credentialId }
  await insertSystemEvent(tx, { orgId: org_id, type: 'circuit.open', resource, data }, deps)
}

/** Lists the circuits of an environment that opened and have not expired, the last opened first. */
export function listCircuits(db: Db, environmentId: string, now: Date, page: Page): Promise<CircuitRow[]> {
  const query = db
    .selectFrom('circuits')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('expires_at', '>', now)
  return selectPage(query, page, 'opened_at', 'id').execute()
}

export async function removeExpiredCircuits(db: Db, now: Date, signal?: AbortSignal): Promise<void> {
  await removeInBatches(db, 'circuits', sql`expires_at <= ${now}`, signal)
}
