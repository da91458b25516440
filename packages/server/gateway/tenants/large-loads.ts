import type { Environment } from '../../core/tenancy/tenancy.ts'
import { FairSlots } from '../../http/fairness/fair-slots.ts'

/** Environments with fewer records load within a few milliseconds of the event loop. */
const LARGE_RECORDS = 1_000
/** What a record costs of the event loop, in short ticks: parsing it, and measuring what it takes of memory. */
const RECORD_MS = 0.02
/** So many names of a list cost what a record does. */
const NAMES_PER_RECORD = 20
/** How long an environment rests after it was loaded, as a multiple of what that cost; at most MAX_REST_MS. */
const OWN_REST_FACTOR = 9
const MAX_REST_MS = 1_000
/** How long all of them rest. */
const REST_FACTOR = 2
const WAIT_MS = 2_000
const MAX_KNOWN = 5_000

interface LargeEnvironment {
  readonly orgId: string
  readonly ms: number
  readonly loadedAt: number
}

type Load = (id: string) => Promise<Environment | undefined>

/**
 * Paces the loads of environments with thousands of rules, models or credentials, or long lists of models, one after another in turns
 * of organizations: each costs every gateway worker up to 0.3 s, and whoever changes such an environment again and again makes its
 * next request load it anew. Other environments never wait.
 */
export class LargeLoads {
  readonly #load: Load
  readonly #now: () => number
  readonly #slots = new FairSlots({ total: 1, perTenant: 1, perCaller: 1, waitingPerTenant: 1_000 })
  /** What was large when it was loaded last. */
  readonly #known = new Map<string, LargeEnvironment>()
  /** Loads that have not begun, and so will see every change until then. */
  readonly #waiting = new Map<string, Promise<Environment | undefined>>()

  /** `now`: milliseconds. */
  constructor(load: Load, now: () => number) {
    this.#load = load
    this.#now = now
  }

  async load(id: string): Promise<Environment | undefined> {
    const known = this.#known.get(id)
    if (known === undefined) return this.#note(id, await this.#load(id))
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined) return await waiting
    const loading = this.#loadLater(id, known)
    this.#waiting.set(id, loading)
    return await loading
  }

  async #loadLater(id: string, { orgId, ms, loadedAt }: LargeEnvironment): Promise<Environment | undefined> {
    const caller = `caller in ${orgId}`
    try {
      await pause(loadedAt + Math.min(ms * OWN_REST_FACTOR, MAX_REST_MS) - this.#now())
      if (!(await this.#slots.acquire(orgId, caller, WAIT_MS))) {
        throw new Error('too many environments with thousands of records are loaded at once')
      }
    } finally {
      this.#waiting.delete(id)
    }
    try {
      return this.#note(id, await this.#load(id))
    } finally {
      setTimeout(() => this.#slots.release(orgId, caller), ms * REST_FACTOR).unref()
    }
  }

  #note(id: string, environment: Environment | undefined): Environment | undefined {
    const records = environment === undefined ? 0 : countRecords(environment)
    this.#known.delete(id)
    if (environment === undefined || records < LARGE_RECORDS) return environment
    const [oldest] = this.#known.size < MAX_KNOWN ? [] : this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(id, { orgId: environment.orgId, ms: records * RECORD_MS, loadedAt: this.#now() })
    return environment
  }
}

function countRecords(environment: Environment): number {
  const { policies, aliases, customModels, credentials } = environment
  const { limits, quotas, budgets, plans } = policies
  const rules = limits.length + quotas.length + budgets.length + plans.length
  const records = rules + aliases.size + customModels.size + credentials.length
  return records + Math.floor(countNames(environment) / NAMES_PER_RECORD)
}

/** Counts what stands in the lists of records. Each plan may allow a thousand models. */
function countNames({ allowedModels, allowedOrigins, credentials, policies }: Environment): number {
  const own = (allowedModels?.length ?? 0) + allowedOrigins.length
  const discovered = credentials.reduce((sum, { discovered }) => sum + discovered.size, 0)
  return policies.plans.reduce((sum, plan) => sum + (plan.allowedModels?.length ?? 0), own + discovered)
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise(resolve => setTimeout(resolve, ms))
}
