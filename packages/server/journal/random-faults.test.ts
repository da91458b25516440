import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestRecord } from '../core/records/request-record.ts'
import { Drain } from './drain.ts'
import { type Journal, listSegments, openJournal } from './journal.ts'
import { folderOf, NEVER_MS, silent } from './testing/open-drain.ts'

/**
 * Records, reads, kills, and failures of the disk and of the database in any order: what is answered is stored once everything works
 * again, also by a process that starts with what a kill left.
 */

const STEPS = [
  ...['write', 'write', 'write', 'open', 'open', 'end'],
  ...['insert', 'flush', 'read', 'read', 'tick', 'tick', 'kill'],
  ...['rotate', 'database', 'disk', 'segments'],
] as const

const bounds = fc.record({
  batchSize: fc.integer({ min: 1, max: 4 }),
  maxQueued: fc.integer({ min: 1, max: 8 }),
  maxSegmentBytes: fc.integer({ min: 300, max: 2_000 }),
})
const steps = fc.array(fc.constantFrom(...STEPS), { minLength: 5, maxLength: 60 })

const tick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

class Model {
  /** What does not hold. */
  readonly problems: string[] = []
  readonly #folder = folderOf()
  readonly #journal: Journal
  readonly #drain: Drain
  readonly #stored = new Set<string>()
  /** Requests whose open line or record the journal took. */
  readonly #journaled = new Set<string>()
  /** Requests that the ledger has settled: it counts those that are neither stored nor missing in a read no more. */
  readonly #settled = new Set<string>()
  /** Records of answered requests. */
  readonly #answered = new Set<string>()
  readonly #open: string[] = []
  readonly #started: Promise<unknown>[] = []
  #hasDatabase = true
  #hasDisk = true
  #canBegin = true
  #ids = 0

  constructor({ maxSegmentBytes, ...limits }: typeof bounds extends fc.Arbitrary<infer T> ? T : never) {
    const opened = openJournal(this.#folder, { onError: () => {}, maxSegmentBytes })
    this.#journal = {
      ...opened,
      append: (...lines) => {
        if (!this.#hasDisk) throw new Error('ENOSPC')
        const segment = opened.append(...lines)
        for (const line of lines) {
          const id = /^\{(?:"open":\{)?"id":"([^"]*)"/.exec(line)?.[1]
          if (id !== undefined) this.#journaled.add(id)
        }
        return segment
      },
      rotate: () => {
        if (!this.#canBegin) throw new Error('EMFILE')
        return opened.rotate()
      },
      remove: async segments => {
        await tick()
        await opened.remove(segments)
      },
    }
    const insert = async (records: readonly { readonly id: string }[]): Promise<void> => {
      await tick()
      if (!this.#hasDatabase) throw new Error('the database is unavailable')
      for (const { id } of records) this.#stored.add(id)
      await tick()
    }
    const options = { folder: this.#folder, journal: this.#journal, log: silent, flushEveryMs: NEVER_MS }
    this.#drain = new Drain({ ...options, ...limits, insert })
  }

  async do(step: (typeof STEPS)[number]): Promise<void> {
    if (step === 'write') this.#write(`w${this.#ids++}`)
    else if (step === 'open') this.#begin()
    else if (step === 'end') this.#endOldest()
    else if (step === 'insert') this.#start(this.#drain.insertDue())
    else if (step === 'flush') this.#flush()
    else if (step === 'read') this.#start(this.#drain.afterFlush(missing => this.#read(missing)))
    else if (step === 'tick') await tick()
    else if (step === 'kill') await this.#checkKill()
    else if (step === 'database') this.#hasDatabase = !this.#hasDatabase
    else if (step === 'disk') this.#hasDisk = !this.#hasDisk
    else if (step === 'segments') this.#canBegin = !this.#canBegin
    else if (this.#canBegin) this.#journal.rotate()
  }

  /** Repairs everything, ends all requests, and checks that nothing is left. */
  async end(): Promise<void> {
    this.#hasDatabase = true
    this.#hasDisk = true
    this.#canBegin = true
    while (this.#open.length > 0) this.#endOldest()
    await Promise.all(this.#started)
    await this.#drain.flush()
    this.#expectNone('not stored at the end', [...this.#answered].filter(this.#isMissing))
    await this.#drain.close()
    this.#expectNone('segments left at the end', listSegments(this.#folder))
    rmSync(this.#folder, { recursive: true })
  }

  #record(id: string): RequestRecord {
    return {
      ...{ id, at: 't', org_id: 'o', status: 200, attempts: [{}] },
      metadata: { text: 'x'.repeat((this.#ids * 37) % 150) },
    } as unknown as RequestRecord
  }

  readonly #isMissing = (id: string): boolean => !this.#stored.has(id)

  #expectNone(what: string, found: readonly (string | number)[]): void {
    if (found.length > 0) this.problems.push(`${what}: ${found.join(', ')}`)
  }

  /** Starts what a failure may end too. */
  #start(work: Promise<unknown>): void {
    const isExpected = (error: unknown): boolean => /ENOSPC|EMFILE|unavailable/.test(String(error))
    this.#started.push(
      work.catch(error => {
        if (!isExpected(error)) throw error
      }),
    )
  }

  #write(id: string): void {
    const writing = this.#drain.write(this.#record(id))
    this.#settled.add(id)
    this.#start(writing.then(() => this.#answered.add(id)))
  }

  #begin(): void {
    const id = `o${this.#ids++}`
    try {
      this.#drain.open(this.#record(id))
      this.#open.push(id)
    } catch (error) {
      if (this.#hasDisk) throw error
    }
  }

  #endOldest(): void {
    const id = this.#open.shift()
    if (id !== undefined) this.#write(id)
  }

  #flush(): void {
    const before = [...this.#answered]
    const flushed = this.#drain.flush().then(() => {
      this.#expectNone('not stored by a flush', before.filter(this.#isMissing))
    })
    this.#start(flushed)
  }

  async #read(missing: ReadonlySet<string>): Promise<void> {
    const unknown = [...this.#settled].filter(id => this.#isMissing(id) && !missing.has(id))
    this.#expectNone('neither stored nor missing in a read', unknown)
    const stored = [...missing].filter(id => this.#stored.has(id))
    this.#expectNone('stored and missing in a read', stored)
    await tick()
  }

  /** Starts another process with a copy of what a kill would leave now. */
  async #checkKill(): Promise<void> {
    const safe = [...this.#answered].filter(id => this.#journaled.has(id))
    const open = [...this.#open]
    const stored = new Set(this.#stored)
    const folder = path.join(folderOf(), 'copy')
    copyJournal(this.#folder, folder)
    const journal = openJournal(folder, { onError: () => {} })
    const insert = async (records: readonly { readonly id: string }[]): Promise<void> => {
      for (const { id } of records) stored.add(id)
    }
    const drain = new Drain({ folder, journal, insert, log: silent, flushEveryMs: NEVER_MS })
    await drain.flush()
    await drain.close()
    const lost = [...safe, ...open].filter(id => !stored.has(id))
    this.#expectNone('lost by a kill', lost)
    this.#expectNone('segments left after a kill', listSegments(folder))
    rmSync(path.dirname(folder), { recursive: true })
  }
}

/** Copies a folder's files but those that are being removed. */
function copyJournal(from: string, to: string): void {
  mkdirSync(to)
  for (const name of readdirSync(from)) {
    try {
      copyFileSync(path.join(from, name), path.join(to, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

test('no order of records, reads, kills and failures loses a record', async () => {
  const property = fc.asyncProperty(bounds, steps, async (limits, each) => {
    const model = new Model(limits)
    for (const step of each) await model.do(step)
    await model.end()
    expect(model.problems).toEqual([])
  })
  await fc.assert(property, { numRuns: 200, timeout: 20_000 })
})
