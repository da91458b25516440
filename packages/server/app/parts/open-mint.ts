import { readFileSync } from 'node:fs'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import type { FederatedConfig } from '../../core/tenancy/federated-config.ts'
import type { GatewayDeps } from '../../gateway/deps.ts'
import type { DeviceStore, MintDeps } from '../../gateway/mint/mint-deps.ts'
import { SeenEndUsers } from '../../gateway/tenants/seen-end-users.ts'
import type { SigningKeys } from '../../gateway/tenants/signing-keys.ts'
import { chargeLookupsTo, type EgressPolicy } from '../../http/egress/egress.ts'
import { toLookupOwner } from '../../http/names/lookup-slots.ts'
import { KEY_ATTESTATION_ROOTS } from '../../identity/devices/android/key-attestation-roots.ts'
import {
  fetchRevocations,
  GOOGLE_REVOCATION_LIST,
  readRevocations,
} from '../../identity/devices/android/load-revocations.ts'
import { NO_REVOCATIONS, Revocations } from '../../identity/devices/android/revocations.ts'
import { APP_ATTESTATION_ROOTS } from '../../identity/devices/apple/app-attestation-roots.ts'
import { parseTrustAnchors, type TrustAnchor } from '../../identity/devices/x509/trust-anchor.ts'
import { KeySetCache } from '../../identity/key-set-cache.ts'
import { fetchKeySets } from '../../identity/key-sets.ts'
import {
  advanceCounter,
  consumeChallenge,
  findDevice,
  getDeviceSaltKey,
  insertChallenge,
  insertDevice,
} from '../../storage/end-users/devices.ts'
import { insertSeenEndUsers, putEndUserAttributes } from '../../storage/end-users/end-users.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { ConfigError } from '../settings/config-error.ts'
import type { AppParts } from './app-parts.ts'
import { askDatabase } from './ask-database.ts'
import { openDeviceCheck } from './open-device-check.ts'

type Mint = MintDeps & Pick<GatewayDeps, 'signingKeys' | 'seenEndUsers'>

/** Opens what the routes that make client tokens need. */
export async function openMint(parts: AppParts, signingKeys: SigningKeys): Promise<Mint> {
  const { storage, egress, closers } = parts
  const extra = readExtraRoots(parts)
  const seenEndUsers = openSeenEndUsers(parts)
  closers.push(() => seenEndUsers.settled())
  return {
    signingKeys,
    seenEndUsers,
    getSigner: () => signingKeys.getSigner(),
    keySets: new KeySetCache({
      fetch: config => fetchKeySets(config, chargeToIssuer(egress, config)),
      clock: systemClock,
    }),
    putAttributes: (seen, attributes) => askDatabase(putEndUserAttributes(storage.pool, seen, attributes)),
    devices: await openDeviceStore(storage),
    deviceRoots: {
      ios: [...APP_ATTESTATION_ROOTS, ...extra],
      android: [...KEY_ATTESTATION_ROOTS, ...extra],
    },
    revocations: await openRevocations(parts),
    deviceCheck: openDeviceCheck(parts),
    randomBytes: systemRandom.bytes,
  }
}

function openSeenEndUsers({ storage, newId, log }: AppParts): SeenEndUsers {
  const { now } = systemClock
  return new SeenEndUsers({ insert: seen => insertSeenEndUsers(storage.pool, seen), newId, now, log })
}

/** Organizations share what is fetched, and whether that failed. So it has a share of its own. */
export function chargeToIssuer(egress: EgressPolicy, config: FederatedConfig): EgressPolicy {
  const { jwksUrl, issuers, orgId } = config
  return chargeLookupsTo(egress, toLookupOwner(`issuer ${jwksUrl ?? issuers.join(' ')}`, orgId))
}

async function openDeviceStore({ pool }: Storage): Promise<DeviceStore> {
  return {
    saltKey: await getDeviceSaltKey(pool),
    insertChallenge: challenge => askDatabase(insertChallenge(pool, challenge)),
    consumeChallenge: (environmentId, hash, now) =>
      askDatabase(consumeChallenge(pool, environmentId, hash, now)),
    insert: device => askDatabase(insertDevice(pool, device)),
    find: (environmentId, platform, keyId) => askDatabase(findDevice(pool, environmentId, platform, keyId)),
    advanceCounter: (id, counter, now) => askDatabase(advanceCounter(pool, id, counter, now)),
  }
}

/** Reads RIDEAU_ANDROID_REVOCATION_LIST. A file must be readable at the start; an address is asked when it is needed. */
async function openRevocations({ config, egress, log, closers }: AppParts): Promise<MintDeps['revocations']> {
  const { androidRevocationList: source = GOOGLE_REVOCATION_LIST } = config
  if (source === 'off') return NO_REVOCATIONS
  const clock = systemClock
  if (!/^https?:\/\//i.test(source)) {
    await readRevocations(source).catch(error => {
      const accepted = "a URL, a file in the form of Google's list, or off"
      throw new ConfigError(`RIDEAU_ANDROID_REVOCATION_LIST: must be ${accepted}: ${error.message}`)
    })
    return new Revocations({ load: () => readRevocations(source), clock, log })
  }
  const closing = new AbortController()
  closers.push(() => closing.abort())
  return new Revocations({ load: () => fetchRevocations(source, egress, closing.signal), clock, log })
}

/** Reads RIDEAU_DEVICE_EXTRA_ROOTS. Whoever has a key of such a root can make devices up. */
function readExtraRoots({ config, log }: AppParts): readonly TrustAnchor[] {
  if (config.deviceExtraRoots === undefined) return []
  try {
    const roots = parseTrustAnchors(readFileSync(config.deviceExtraRoots, 'utf8'))
    log.warn(
      { roots: roots.length },
      'RIDEAU_DEVICE_EXTRA_ROOTS IS SET: devices are accepted that neither Apple nor Google vouches for. For tests only.',
    )
    return roots
  } catch (error) {
    throw new ConfigError(
      `RIDEAU_DEVICE_EXTRA_ROOTS: must be a file of certificates: ${(error as Error).message}`,
    )
  }
}
