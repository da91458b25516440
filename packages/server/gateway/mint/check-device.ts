import { createHmac, hash } from 'node:crypto'
import type { DeviceAuth, DevicePlatform } from '../../core/tenancy/device-auth.ts'
import { verifyKeyAssertion } from '../../identity/devices/android/verify-key-assertion.ts'
import { isSignedBy, verifyKeyAttestation } from '../../identity/devices/android/verify-key-attestation.ts'
import { verifyAppAssertion } from '../../identity/devices/apple/verify-app-assertion.ts'
import { verifyAppAttestation } from '../../identity/devices/apple/verify-app-attestation.ts'
import { hashClientData, toDeviceEndUserId } from '../../identity/devices/client-data.ts'
import type { Device } from '../../storage/end-users/devices.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { MintDeps } from './mint-deps.ts'
import type { Assertion, Attestation } from './parse-device.ts'

/** The end user that a device stands for, or why it is rejected. The reason is for the log only. */
export type DeviceVerdict = { readonly endUserId: string } | { readonly rejection: string }

export interface CheckDeviceDeps
  extends Pick<MintDeps, 'devices' | 'deviceRoots' | 'deviceCheck' | 'revocations'> {
  /** Unix milliseconds. */
  readonly now: () => number
  readonly newId: () => string
}

/** An attested key as it is stored. */
type AttestedKey = Pick<Device, 'publicKey' | 'appId' | 'statement'> & {
  readonly receipt: Buffer | null
}

const KEY_ID_BYTES = 32
const WRONG_KEY_ID: DeviceVerdict = { rejection: 'The key id has not 32 bytes.' }

/** Verifies an attestation and stores its key. The challenge must have been used up before. */
export async function checkAttestation(
  ctx: IdentifiedContext,
  given: Attestation,
  deps: CheckDeviceDeps,
): Promise<DeviceVerdict> {
  const { id: environmentId, orgId, projectId, deviceAuth } = ctx.environment
  const { platform, keyId } = given
  if (keyId.length !== KEY_ID_BYTES) return WRONG_KEY_ID
  const key = attest(given, deviceAuth, deps)
  if ('reason' in key) return { rejection: key.reason }
  const token = given.deviceCheckToken
  const deviceCheck = token === undefined ? undefined : await askDeviceCheck(token, projectId, deps)
  const statement = deviceCheck === undefined ? key.statement : { ...key.statement, deviceCheck }
  const isNew = await deps.devices.insert({
    id: deps.newId(),
    orgId,
    projectId,
    environmentId,
    platform,
    keyId,
    publicKey: key.publicKey,
    appId: key.appId,
    counter: 0,
    receipt: key.receipt,
    statement,
    now: new Date(deps.now()),
  })
  return isNew ? toEndUser(ctx, keyId, deps) : { rejection: 'The key was attested before.' }
}

function attest(
  { platform, keyId, challenge, parts }: Attestation,
  deviceAuth: DeviceAuth | null,
  { deviceRoots, revocations, now }: CheckDeviceDeps,
): AttestedKey | { readonly reason: string } {
  const common = { keyId, now: now(), roots: deviceRoots[platform] }
  if (platform === 'ios') {
    const { appIds = [], environment = 'production' } = deviceAuth?.ios ?? {}
    const attestation = parts[0] ?? Buffer.alloc(0)
    const clientDataHash = hashClientData(challenge)
    const found = verifyAppAttestation({ ...common, attestation, clientDataHash, appIds, environment })
    if (!found.valid) return found
    const { valid: _, publicKey, appId, receipt, counter: __, ...statement } = found
    return { publicKey, appId, receipt, statement: { environment, ...statement } }
  }
  const { packageNames = [], signingDigests = [] } = deviceAuth?.android ?? {}
  const found = verifyKeyAttestation({
    ...common,
    certificateChain: parts,
    attestationChallenge: Buffer.from(challenge, 'utf8'),
    packageNames,
    signingDigests,
    revokedSerials: revocations.serials,
  })
  if (!found.valid) return found
  const { valid: _, publicKey, packageName, ...statement } = found
  return { publicKey, appId: packageName, receipt: null, statement }
}

const DEVICE_CHECK_MS = 2_000

/**
 * Returns what is stored of a DeviceCheck token: its hash, and what the signal says. A signal that fails, or that says nothing
 * for 2 seconds, is unknown.
 */
async function askDeviceCheck(
  token: string,
  projectId: string,
  { deviceCheck }: CheckDeviceDeps,
): Promise<object> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<'unknown'>(resolve => {
    timer = setTimeout(resolve, DEVICE_CHECK_MS, 'unknown')
  })
  const verdict = await Promise.race([deviceCheck.check(token, projectId).catch(() => 'unknown'), limit])
  clearTimeout(timer)
  return { sha256: hash('sha256', token, 'hex'), verdict }
}

/** Verifies an assertion and stores its counter. The challenge must have been used up before. */
export async function checkAssertion(
  ctx: IdentifiedContext,
  given: Assertion,
  deps: CheckDeviceDeps,
): Promise<DeviceVerdict> {
  const { platform, keyId, challenge, assertion, counter } = given
  if (keyId.length !== KEY_ID_BYTES) return WRONG_KEY_ID
  const device = await deps.devices.find(ctx.environment.id, platform, keyId)
  if (device === undefined) return { rejection: 'The key was not attested here.' }
  const { publicKey, appId, counter: storedCounter } = device
  if (!isAccepted(platform, device, ctx.environment.deviceAuth)) {
    return {
      rejection: "The key's app, its build or its signing certificate is not one of the project's now.",
    }
  }
  const signed = { assertion, publicKey, storedCounter }
  const verdict =
    platform === 'ios'
      ? verifyAppAssertion({ ...signed, appId, clientDataHash: hashClientData(challenge) })
      : verifyKeyAssertion({ ...signed, challenge, counter: counter ?? -1 })
  if (!verdict.valid) return { rejection: verdict.reason }
  const isAdvanced = await deps.devices.advanceCounter(device.id, verdict.counter, new Date(deps.now()))
  if (!isAdvanced) return { rejection: 'The counter was used by another request.' }
  return toEndUser(ctx, keyId, deps)
}

/**
 * True if the project would still accept what the platform said when the key was attested. Earlier versions stored no signing
 * certificates of Android apps: those keys have to be attested anew.
 */
function isAccepted(
  platform: DevicePlatform,
  { appId, statement }: Device,
  deviceAuth: DeviceAuth | null,
): boolean {
  const { ios, android } = deviceAuth ?? { ios: null, android: null }
  if (platform === 'ios') {
    return ios !== null && ios.appIds.includes(appId) && statement.environment === ios.environment
  }
  const { signingDigests: signers } = statement
  if (android === null || !Array.isArray(signers)) return false
  return android.packageNames.includes(appId) && isSignedBy(signers, android.signingDigests)
}

function toEndUser({ environment }: IdentifiedContext, keyId: Buffer, deps: CheckDeviceDeps): DeviceVerdict {
  const { saltKey } = deps.devices
  const salt = createHmac('sha256', saltKey).update(environment.projectId).digest()
  return { endUserId: toDeviceEndUserId(salt, environment.id, keyId) }
}
