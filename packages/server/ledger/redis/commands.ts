import type { Redis } from 'ioredis'
import { READ, SWEEP } from './scripts.ts'
import { KNOWN, RESTORE, SEED } from './seed-scripts.ts'
import { TURN } from './turn-script.ts'

/** A script: the key of an organization's holds, then its arguments as the script says. */
type Run<Reply> = (holds: string, ...args: (string | number)[]) => Promise<Reply>

export interface LedgerCommands {
  /** What requests ask: the keys of their organizations' holds, the time, the operations as JSON. See turn-script.ts. */
  readonly turn: (holds: readonly string[], time: string | number, json: string) => Promise<Buffer>
  readonly read: Run<[now: number, values: number[]]>
  readonly sweep: Run<number>
  readonly known: Run<string[]>
  readonly seed: Run<number>
  readonly restore: Run<number>
}

const OF_ONE = { read: READ, sweep: SWEEP, known: KNOWN, seed: SEED, restore: RESTORE }

/** Scripts travel by their hash; a server that does not know one is sent it whole, once. */
export function defineCommands(redis: Redis): LedgerCommands {
  const commands = redis as unknown as Record<string, Run<unknown>>
  redis.defineCommand('rideau_turn', { lua: TURN })
  const turn = commands.rideau_turnBuffer as unknown as Turn
  const ofOne = Object.entries(OF_ONE).map(([name, lua]) => {
    redis.defineCommand(`rideau_${name}`, { numberOfKeys: 1, lua })
    return [name, (commands[`rideau_${name}`] as Run<unknown>).bind(redis)] as const
  })
  return {
    turn: (holds, time, json) => turn.call(redis, holds.length, ...holds, time, json),
    ...(Object.fromEntries(ofOne) as Omit<LedgerCommands, 'turn'>),
  }
}

type Turn = (numberOfKeys: number, ...args: (string | number)[]) => Promise<Buffer>
