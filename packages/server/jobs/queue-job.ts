import type { QueueRoom } from '../core/queue-room.ts'
import { openPeriodicJob } from './periodic-job.ts'

/** What ends within this time gives its place away together, so that one statement finds what comes next. */
const GATHER_MS = 50
/** An organization is slow for so long after a host of it took SLOW_MS. */
const SLOW_FOR_MS = 600_000
const SLOW_MS = 2_000
const MAX_SLOW = 10_000

export interface QueueBounds {
  /** Items that run at once. Slow organizations get half of the places at most, and an eighth of them whatever others want. */
  readonly most: number
  /** Of one organization. */
  readonly ofOrganization: number
  readonly everyMs: number
}

export interface QueueJobOptions<Item extends { readonly org_id: string }> extends QueueBounds {
  /** Claims items that are due. */
  readonly claim: (room: QueueRoom) => Promise<readonly Item[]>
  /** Handles an item, for which it asks a host of the item's organization. Must not reject. */
  readonly run: (item: Item) => Promise<void>
  /** Logs that nothing could be claimed. */
  readonly onError: (error: unknown) => void
  /** Milliseconds. */
  readonly now?: () => number
}

/**
 * Handles items of a queue when they are due. Each place is filled again when its item has ended, so that a host that does not
 * answer delays nobody but the next item of its own place; an organization with such a host comes after the others for a while.
 */
export class QueueJob<Item extends { readonly org_id: string }> {
  readonly #options: QueueJobOptions<Item>
  readonly #now: () => number
  readonly #running = new Set<Promise<void>>()
  readonly #runningOf = new Map<string, number>()
  #runningSlow = 0
  /** When an organization is no longer slow; the earliest first. */
  readonly #slowUntil = new Map<string, number>()
  readonly #periodic: { close(): Promise<void> }
  #gathering: NodeJS.Timeout | undefined
  #claiming: Promise<void> | undefined
  #isClosing = false

  constructor(options: QueueJobOptions<Item>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#periodic = openPeriodicJob(() => this.#claim(), options.everyMs)
  }

  /** Claims nothing more, and resolves when what runs has ended. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#gathering)
    await this.#periodic.close()
    await this.#claiming
    await Promise.all(this.#running)
  }

  /** Concurrent callers share one claim. */
  #claim(): Promise<void> {
    this.#claiming ??= this.#claimNow().finally(() => {
      this.#claiming = undefined
    })
    return this.#claiming
  }

  async #claimNow(): Promise<void> {
    const { most, ofOrganization, claim, onError } = this.#options
    const limit = most - this.#running.size
    if (this.#isClosing || limit === 0) return
    const slow = this.#listSlow()
    const leftToSlow = (places: number): number => Math.max(0, Math.min(limit, places - this.#runningSlow))
    const slowLimit = leftToSlow(Math.floor(most / 2))
    const slowShare = leftToSlow(Math.floor(most / 8))
    // A copy: items may end before the claim reads it, and `limit` would not know of them.
    const running = new Map(this.#runningOf)
    const room = { limit, slowLimit, slowShare, slow, ofOrganization, running }
    try {
      const items = await claim(room)
      // What was claimed is handled even if the job closes meanwhile: its lease would delay it otherwise.
      for (const item of items) this.#start(item, slow.includes(item.org_id))
    } catch (error) {
      onError(error)
    }
  }

  #start(item: Item, isSlow: boolean): void {
    const { org_id: orgId } = item
    const startedAt = this.#now()
    this.#count(orgId, isSlow, 1)
    const running = this.#options.run(item).finally(() => {
      this.#running.delete(running)
      this.#count(orgId, isSlow, -1)
      if (this.#now() - startedAt >= SLOW_MS) this.#noteSlow(orgId)
      if (this.#isClosing || this.#gathering !== undefined) return
      this.#gathering = setTimeout(() => {
        this.#gathering = undefined
        // A claim that runs already does not know of the places that were given away since.
        void Promise.resolve(this.#claiming).then(() => this.#claim())
      }, GATHER_MS)
    })
    this.#running.add(running)
  }

  #count(orgId: string, isSlow: boolean, by: 1 | -1): void {
    const count = (this.#runningOf.get(orgId) ?? 0) + by
    if (count === 0) this.#runningOf.delete(orgId)
    else this.#runningOf.set(orgId, count)
    if (isSlow) this.#runningSlow += by
  }

  #noteSlow(orgId: string): void {
    this.#slowUntil.delete(orgId)
    const [oldest] = this.#slowUntil.size < MAX_SLOW ? [] : this.#slowUntil.keys()
    if (oldest !== undefined) this.#slowUntil.delete(oldest)
    this.#slowUntil.set(orgId, this.#now() + SLOW_FOR_MS)
  }

  #listSlow(): string[] {
    for (const [orgId, until] of this.#slowUntil) {
      if (until > this.#now()) break
      this.#slowUntil.delete(orgId)
    }
    return [...this.#slowUntil.keys()]
  }
}
