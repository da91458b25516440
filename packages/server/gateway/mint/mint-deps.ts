import type { TokenSigner } from '../../core/access/client-token.ts'
import type { DevicePlatform } from '../../core/tenancy/device-auth.ts'
import type { Revocations } from '../../identity/devices/android/revocations.ts'
import type { TrustAnchor } from '../../identity/devices/x509/trust-anchor.ts'
import type { KeySetCache } from '../../identity/key-set-cache.ts'
import type { Device, NewChallenge, NewDevice } from '../../storage/end-users/devices.ts'
import type { SeenEndUser } from '../../storage/end-users/end-users.ts'
import type { DeviceCheckSignal } from './device-check-signal.ts'

/** What the routes that make client tokens need of the process. */
export interface MintDeps {
  /** Returns the key that signs client tokens now. Throws `signing_key_unavailable`. */
  readonly getSigner: () => Promise<TokenSigner>
  /** The key sets of identity providers. */
  readonly keySets: KeySetCache
  /** Stores the attributes of an end user, with a new record if it has none. */
  readonly putAttributes: (seen: SeenEndUser, attributes: string) => Promise<void>
  readonly devices: DeviceStore
  /** The roots in which an attestation may end, by platform. */
  readonly deviceRoots: Readonly<Record<DevicePlatform, readonly TrustAnchor[]>>
  /** The revoked certificates of Android devices. */
  readonly revocations: Pick<Revocations, 'serials' | 'refresh' | 'ready'>
  readonly deviceCheck: DeviceCheckSignal
  readonly randomBytes: (length: number) => Buffer
}

/** Challenges and devices' keys. Each of its methods is one statement. */
export interface DeviceStore {
  /** The key from which each project's salt is made. */
  readonly saltKey: Buffer
  insertChallenge(challenge: NewChallenge): Promise<void>
  /** Uses a challenge up. Of concurrent callers one gets true. */
  consumeChallenge(environmentId: string, hash: Buffer, now: Date): Promise<boolean>
  /** False: the key was attested before. */
  insert(device: NewDevice): Promise<boolean>
  find(environmentId: string, platform: DevicePlatform, keyId: Buffer): Promise<Device | undefined>
  /** Resolves with true for one of several concurrent callers with the same counter, and with false if the stored counter is not smaller. */
  advanceCounter(id: string, counter: number, now: Date): Promise<boolean>
}
