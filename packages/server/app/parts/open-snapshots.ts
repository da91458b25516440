import { systemClock } from '../../core/clock.ts'
import type { EndUser } from '../../core/tenancy/tenancy.ts'
import { LargeLoads } from '../../gateway/tenants/large-loads.ts'
import { Preloads } from '../../gateway/tenants/preloads.ts'
import type { SigningKeys } from '../../gateway/tenants/signing-keys.ts'
import { type SnapshotName, Snapshots } from '../../gateway/tenants/snapshots.ts'
import { GroupedQueries } from '../../http/fairness/grouped-queries.ts'
import {
  type ConfigNotifications,
  openConfigNotifications,
  SIGNING_KEYS,
} from '../../storage/changes/config-notifications.ts'
import { findEnvironmentSnapshot, findKeyByHash } from '../../storage/snapshots/snapshots.ts'
import {
  type EndUserName,
  findTokenMinter,
  listEndUserSnapshots,
} from '../../storage/snapshots/token-snapshots.ts'
import { connectConfigChanges } from '../../workers/messages/config-changes.ts'
import { connectLoadedSnapshots } from '../../workers/messages/loaded-snapshots.ts'
import type { AppParts } from './app-parts.ts'

/** Those that one statement reads. */
const MAX_END_USERS = 500

/** Opens the tenant snapshots and the notifications that invalidate them and the keys of client tokens. */
export async function openSnapshots(
  { config, log, storage, secretBox, worker }: AppParts,
  signingKeys: SigningKeys,
): Promise<{ snapshots: Snapshots; announcements: ConfigNotifications }> {
  const preloads = new Preloads(name => snapshots.preload(name))
  const onLoaded = worker && connectLoadedSnapshots<SnapshotName>(worker.calls, name => preloads.add(name))
  const endUsers = new GroupedQueries<EndUserName, EndUser>({
    maxSize: MAX_END_USERS,
    run: names => listEndUserSnapshots(storage.pool, names),
  })
  const largeLoads = new LargeLoads(
    id => findEnvironmentSnapshot(storage.pool, secretBox, id),
    () => performance.now(),
  )
  const snapshots: Snapshots = new Snapshots({
    onLoaded,
    source: {
      findKey: hash => findKeyByHash(storage.pool, hash),
      findEnvironment: id => largeLoads.load(id),
      findMinter: claims => findTokenMinter(storage.pool, claims),
      isSigningKey: async kid => (await signingKeys.find(kid))?.isPublished ?? false,
      getEndUser: (environmentId, id) => endUsers.query({ environmentId, id }),
    },
    now: systemClock.now,
    maxStaleMs: config.configMaxStaleMs,
  })
  const effects = {
    onChange: (changed: string) => {
      if (changed !== SIGNING_KEYS) return snapshots.invalidate(changed)
      signingKeys.forget()
      // Tokens that are in memory are not verified again.
      snapshots.flush()
    },
    onLost: () => snapshots.markLost(),
    onRestored: () => {
      signingKeys.forget()
      snapshots.markRestored()
    },
  }
  if (worker !== undefined) {
    connectConfigChanges(worker.calls, effects)
    return { snapshots, announcements: OF_THE_SUPERVISOR }
  }
  const announcements = await openConfigNotifications({
    connection: storage.connection,
    log: line => log.warn(line),
    ...effects,
  })
  return { snapshots, announcements }
}

/** The control plane is in the supervisor, which waits for its workers (ConfigChanges). */
const OF_THE_SUPERVISOR: ConfigNotifications = { barrier: async () => {}, close: async () => {} }

/** Resolves once every committed change applies. If notifications are unavailable, all snapshots are dropped. */
export async function catchUp(announcements: ConfigNotifications, snapshots: Snapshots): Promise<void> {
  await announcements.barrier().catch(() => snapshots.flush())
}
