import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import type { EgressPolicy } from '../../../http/egress/egress.ts'
import { guardedRequest } from '../../../http/egress/guarded-request.ts'

/** A team's key for Apple's DeviceCheck. */
export interface DeviceCheckKey {
  readonly teamId: string
  readonly keyId: string
  /** PEM, on P-256. */
  readonly privateKey: string
  readonly environment: 'production' | 'development'
}

/** The two bits that a team keeps at Apple for a device. They outlive the app on it. */
export interface DeviceBits {
  readonly bit0: boolean
  readonly bit1: boolean
}

export interface DeviceCheckOptions {
  readonly policy: EgressPolicy
  /** Unix milliseconds. */
  readonly now: number
  readonly transactionId: string
  /** Default: Apple's address of the key's environment. */
  readonly origin?: string
}

const ORIGINS = {
  production: 'https://api.devicecheck.apple.com',
  development: 'https://api.development.devicecheck.apple.com',
} as const
const LIMITS = { timeoutMs: 2_000, maxBytes: 4 * 1024 }
/** Apple's answer, with status 200, about a device that has no bits yet. */
const NO_BITS = /failed to find bit state/i
const NONE_SET: DeviceBits = { bit0: false, bit1: false }

/**
 * Asks Apple for the two bits of the device that made a DeviceCheck token
 * (developer.apple.com/documentation/devicecheck/accessing-and-modifying-per-device-data). undefined: Apple could not be asked
 * within 2 seconds, or refused the token or the key.
 */
export async function queryDeviceCheck(
  token: string,
  key: DeviceCheckKey,
  { policy, now, transactionId, origin = ORIGINS[key.environment] }: DeviceCheckOptions,
): Promise<DeviceBits | undefined> {
  const jwt = await signForApple(key, now)
  const response = await guardedRequest(`${origin}/v1/query_two_bits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ device_token: token, transaction_id: transactionId, timestamp: now }),
    policy,
    ...LIMITS,
  })
  if (!response.ok || response.status !== 200 || response.isCut) return undefined
  return parseBits(response.body.toString('utf8'))
}

function signForApple({ teamId, keyId, privateKey }: DeviceCheckKey, now: number): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setIssuedAt(Math.floor(now / 1000))
    .sign(createPrivateKey(privateKey))
}

function parseBits(text: string): DeviceBits | undefined {
  if (NO_BITS.test(text)) return NONE_SET
  try {
    const { bit0, bit1 } = JSON.parse(text) as Record<string, unknown>
    return typeof bit0 === 'boolean' && typeof bit1 === 'boolean' ? { bit0, bit1 } : undefined
  } catch {
    return undefined
  }
}
