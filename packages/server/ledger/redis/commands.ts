import type { Redis } from 'ioredis'
import { SCRIPTS } from './scripts.ts'

type Argument = string | number

/** A script for one organization: the key of its reservations, then the arguments that the script's file lists. */
type OrganizationScript<Reply> = (reservations: string, ...args: Argument[]) => Promise<Reply>

export interface LedgerCommands {
  /** See run-batch.lua. `keys`: the reservations of each organization. */
  readonly runBatch: (keys: readonly string[], time: Argument, json: string) => Promise<Buffer>
  readonly readMeters: OrganizationScript<[now: number, values: number[]]>
  readonly expireLeases: OrganizationScript<number>
  readonly listKnown: OrganizationScript<string[]>
  readonly createCounters: OrganizationScript<number[]>
  readonly restoreReservation: OrganizationScript<number>
}

/** Defines the scripts on a connection. They are called by their hash; a server that does not know one gets its text once. */
export function defineCommands(redis: Redis): LedgerCommands {
  const commands = redis as unknown as Record<string, OrganizationScript<unknown>>
  const { runBatch: batchScript, ...organizationScripts } = SCRIPTS
  redis.defineCommand('rideau_run_batch', { lua: batchScript })
  const runBatch = commands.rideau_run_batchBuffer as unknown as BatchScript
  const ofOrganization = Object.entries(organizationScripts).map(([name, lua]) => {
    redis.defineCommand(`rideau_${name}`, { numberOfKeys: 1, lua })
    return [name, (commands[`rideau_${name}`] as OrganizationScript<unknown>).bind(redis)] as const
  })
  return {
    runBatch: (keys, time, json) => runBatch.call(redis, keys.length, ...keys, time, json),
    ...(Object.fromEntries(ofOrganization) as Omit<LedgerCommands, 'runBatch'>),
  }
}

type BatchScript = (numberOfKeys: number, ...args: Argument[]) => Promise<Buffer>
