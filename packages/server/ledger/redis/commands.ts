import type { Redis } from 'ioredis'
import { ADMIT, EXTEND, READ, RELEASE, SETTLE, SWEEP } from './scripts.ts'
import { KNOWN, RESTORE, SEED } from './seed-scripts.ts'

/** A script: the key of an organization's holds, then its arguments as the script says. */
type Run<Reply> = (holds: string, ...args: (string | number)[]) => Promise<Reply>

export interface LedgerCommands {
  readonly admit: Run<number[]>
  readonly extend: Run<number[]>
  readonly settle: Run<number[]>
  readonly release: Run<number>
  readonly read: Run<number[]>
  readonly sweep: Run<number>
  readonly known: Run<string[]>
  readonly seed: Run<number>
  readonly restore: Run<number>
}

const SCRIPTS: Record<keyof LedgerCommands, string> = {
  admit: ADMIT,
  extend: EXTEND,
  settle: SETTLE,
  release: RELEASE,
  read: READ,
  sweep: SWEEP,
  known: KNOWN,
  seed: SEED,
  restore: RESTORE,
}

/** Scripts travel by their hash; a server that does not know one is sent it whole, once. */
export function defineCommands(redis: Redis): LedgerCommands {
  const defined = redis as unknown as Record<string, Run<unknown>>
  const names = Object.keys(SCRIPTS) as (keyof LedgerCommands)[]
  const entries = names.map(name => {
    const command = `rideau_${name}`
    redis.defineCommand(command, { numberOfKeys: 1, lua: SCRIPTS[name] })
    return [name, (...args: Parameters<Run<unknown>>) => (defined[command] as Run<unknown>)(...args)] as const
  })
  return Object.fromEntries(entries) as unknown as LedgerCommands
}
