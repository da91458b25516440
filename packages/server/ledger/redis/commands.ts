import type { Redis } from 'ioredis'
import { READ, SWEEP } from './scripts.ts'
import { KNOWN, RESTORE, SEED } from './seed-scripts.ts'
import { TURN } from './turn-script.ts'

/** Now by the server's clock, then a reply each: whole numbers. */
type Replies = readonly [now: number, ...(readonly number[])[]]

/** A script: the key of an organization's holds, then its arguments as the script says. */
type Run<Reply> = (holds: string, ...args: (string | number)[]) => Promise<Reply>

export interface LedgerCommands {
  /** What requests ask: the keys of their organizations' holds, the time, the operations as JSON. See turn-script.ts. */
  readonly turn: (holds: readonly string[], time: string | number, json: string) => Promise<Replies>
  readonly read: Run<Replies>
  readonly sweep: Run<number>
  readonly known: Run<string[]>
  readonly seed: Run<number>
  readonly restore: Run<number>
}

const OF_ONE = { read: READ, sweep: SWEEP, known: KNOWN, seed: SEED, restore: RESTORE }

/** Scripts travel by their hash; a server that does not know one is sent it whole, once. */
export function defineCommands(redis: Redis): LedgerCommands {
  const define = (name: string, lua: string, numberOfKeys?: number): Defined => {
    const command = `rideau_${name}`
    redis.defineCommand(command, numberOfKeys === undefined ? { lua } : { lua, numberOfKeys })
    return (...args) => (redis as unknown as Record<string, Defined>)[command]?.(...args) as Promise<unknown>
  }
  const turn = define('turn', TURN)
  const ofOne = Object.entries(OF_ONE).map(([name, lua]) => [name, define(name, lua, 1)] as const)
  return {
    turn: (holds, time, json) => turn(holds.length, ...holds, time, json),
    ...Object.fromEntries(ofOne),
  } as LedgerCommands
}

type Defined = (...args: (string | number)[]) => Promise<unknown>
