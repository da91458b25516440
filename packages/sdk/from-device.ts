import type { Scope } from './client-token.ts'
import { isRideauError, RideauError, RideauTokenError } from './errors.ts'
import { fixedCredential } from './fixed-credential.ts'
import { isRetryable, toDelayMs } from './retry.ts'
import type { MintContext, TokenSource } from './token-cache.ts'

/** Binary values are base64 or base64url. */
export interface IosAttestation {
  readonly keyId: string
  readonly attestationObject: string
  /** The token of DeviceCheck, an optional signal. */
  readonly deviceCheckToken?: string
}

export interface AndroidAttestation {
  /** SHA-256 of the public key as SubjectPublicKeyInfo. */
  readonly keyId: string
  /** Each certificate as DER, the key's own first. */
  readonly certificateChain: readonly string[]
}

export interface IosAssertion {
  readonly assertion: string
}

export interface AndroidAssertion {
  readonly assertion: string
  /** Higher than at any earlier assertion of this key. */
  readonly counter: number
}

interface Device<Platform, Attestation, Assertion> {
  readonly platform: Platform
  /** Returns the id of the key that was stored last, or null. */
  findKeyId(): Promise<string | null>
  /**
   * Makes a new hardware key beside the stored one, and attests it for the challenge. Stores its id for `findKeyId` only if there is
   * no `storeKeyId`: the stored key then is lost, and with it the end user, even where the gateway refuses the new one.
   */
  attest(challenge: string): Promise<Attestation>
  /**
   * Stores the id of a key of `attest` for `findKeyId`, in place of the previous one. Called before the first key is sent, so that a lost
   * answer does not waste it, and for a later key once the gateway has accepted it.
   */
  storeKeyId?(keyId: string): Promise<void>
  /** Signs the challenge with the key of this id. Null where the hardware has lost it, as after a restore on another device. */
  assert(keyId: string, challenge: string): Promise<Assertion | null>
}

/** What the app's native code supplies on iOS (App Attest). */
export type IosDevice = Device<'ios', IosAttestation, IosAssertion>
/** What the app's native code supplies on Android (key attestation). */
export type AndroidDevice = Device<'android', AndroidAttestation, AndroidAssertion>

export interface DeviceOptions {
  readonly publishableKey: string
  readonly device: IosDevice | AndroidDevice
  /** The key's own by default. */
  readonly scopes?: readonly Scope[]
  /** From 1 to 3,600; 900 by default. */
  readonly ttlSeconds?: number
}

/**
 * Client tokens for a genuine device and app, without sign-in. The first token attests a new hardware key; later ones only
 * need its signature.
 */
export function fromDevice(options: DeviceOptions): TokenSource {
  return { mint: context => mintWithRetries(options, context) }
}

/** Assertions that are refused before a new key is attested. */
const MAX_REFUSALS = 2

/** Whether the gateway took an attestation or assertion in is unknown: its answer was lost, or came too late. */
class LostAnswer extends RideauError {}

/**
 * A challenge is used up by the request that carries it, whatever comes of it. So only a 429, which comes before, is answered by
 * the same request again. After a lost answer everything starts anew with another challenge, and by the key's signature,
 * because the gateway may have stored the key.
 */
async function mintWithRetries(options: DeviceOptions, context: MintContext): Promise<unknown> {
  const { runtime, maxRetries } = context.transport
  for (let retries = 0; ; retries++) {
    try {
      return await mintOnce(options, context)
    } catch (error) {
      if (!(error instanceof LostAnswer)) throw error
      if (retries >= maxRetries) throw error.cause
      await runtime.sleep(toDelayMs(error.cause, retries, runtime.random), context.signal)
    }
  }
}

/**
 * A new key is another end user, so one refused assertion is not enough to make one: the challenge may have expired while the app
 * was suspended, or another process of the app have used a higher counter. Refused twice, the gateway does not accept the key: it is of
 * another project, its attestation never arrived, or the project's settings have changed. The stored key stays until a new one is
 * accepted: the settings may be put right.
 */
async function mintOnce(options: DeviceOptions, context: MintContext): Promise<unknown> {
  const { device } = options
  const keyId = await device.findKeyId()
  let isLost = keyId === null
  for (let refusals = 0; keyId !== null && refusals < MAX_REFUSALS; refusals++) {
    try {
      const minted = await mintByAssertion(options, context, keyId)
      if (minted !== null) return minted
      isLost = true
      break
    } catch (error) {
      if (!isRideauError(error, 'invalid_device_attestation')) throw error
    }
  }
  const challenge = await getChallenge(options, context)
  const proof = await attest(device, challenge)
  if (isLost) await device.storeKeyId?.(proof.key_id)
  const minted = await post(options, context, 'attest', proof)
  if (!isLost) await device.storeKeyId?.(proof.key_id)
  return minted
}

/** Returns what proves a new key to the gateway. */
async function attest(device: IosDevice | AndroidDevice, challenge: string) {
  if (device.platform === 'android') {
    const { keyId, certificateChain } = await device.attest(challenge)
    return { platform: 'android', key_id: keyId, challenge, certificate_chain: certificateChain }
  }
  const { keyId, attestationObject, deviceCheckToken } = await device.attest(challenge)
  const proof = { platform: 'ios', key_id: keyId, challenge, attestation_object: attestationObject }
  return deviceCheckToken === undefined ? proof : { ...proof, device_check_token: deviceCheckToken }
}

/** Returns null where the device has lost the key. */
async function mintByAssertion(
  options: DeviceOptions,
  context: MintContext,
  keyId: string,
): Promise<unknown> {
  const { device } = options
  const challenge = await getChallenge(options, context)
  if (device.platform === 'android') {
    const signed = await device.assert(keyId, challenge)
    if (signed === null) return null
    const { assertion, counter } = signed
    const proof = { platform: 'android', key_id: keyId, challenge, assertion, counter }
    return post(options, context, 'assert', proof)
  }
  const signed = await device.assert(keyId, challenge)
  if (signed === null) return null
  const { assertion } = signed
  return post(options, context, 'assert', { platform: 'ios', key_id: keyId, challenge, assertion })
}

async function getChallenge({ publishableKey }: DeviceOptions, context: MintContext): Promise<string> {
  const { gatewayUrl, transport, signal } = context
  const call = { method: 'POST', url: `${gatewayUrl}/v1/device/challenge` } as const
  const answer = await transport.callJson<{ challenge?: unknown } | undefined>(
    call,
    fixedCredential(publishableKey),
    { signal },
  )
  if (typeof answer?.challenge !== 'string') throw new RideauTokenError('The gateway gave no challenge.')
  return answer.challenge
}

async function post(
  { publishableKey, scopes, ttlSeconds }: DeviceOptions,
  { gatewayUrl, transport, signal }: MintContext,
  step: 'attest' | 'assert',
  proof: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const json = {
    ...proof,
    ...(scopes === undefined ? {} : { scopes }),
    ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
  }
  const url = `${gatewayUrl}/v1/device/${step}`
  const call = { method: 'POST', url, json, canRetry: isRefusedByLimit } as const
  try {
    return await transport.callJson(call, fixedCredential(publishableKey), { signal })
  } catch (error) {
    if (!isRetryable(error) || isRefusedByLimit(error)) throw error
    throw new LostAnswer('The answer was lost.', { cause: error })
  }
}

function isRefusedByLimit(error: unknown): boolean {
  return isRideauError(error) && error.status === 429 && isRetryable(error)
}
