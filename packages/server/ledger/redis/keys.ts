// The keys of the ledger in Redis. A run is one life of the server's data (see connection.ts); the keys of a run contain its name.

/** The number is that of the format of what the keys contain: a process never reads another format. */
const PREFIX = 'rideau:ledger:3'

/** The random part of the current run's name on this server. It is lost together with the data. */
export function lifeKey(serverId: string): string {
  return `${PREFIX}:${serverId}:life`
}

/** Returns the name of a run. `life`: the value of the life key. */
export function toRunName(serverId: string, life: string): string {
  return `${serverId}.${life}`
}

/** Returns the life key of a run's server, and its value during the run. */
export function lifeMarkerOf(run: string): { readonly key: string; readonly value: string } {
  const [serverId = '', value = ''] = run.split('.')
  return { key: lifeKey(serverId), value }
}

/** Exists while the counters of a run may be used. */
export function openKey(run: string): string {
  return `${PREFIX}:${run}:open`
}

/** The set of gateway processes that have restored their reservations in a run. */
export function membersKey(run: string): string {
  return `${PREFIX}:${run}:members`
}

/** The reservations of an organization. The braces make its id a hash tag: all its keys are in one slot of a cluster. */
export function reservationsKey(run: string, orgId: string): string {
  return `${PREFIX}:${run}:{${orgId}}:reservations`
}
