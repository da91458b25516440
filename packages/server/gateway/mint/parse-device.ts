import {
  invalid,
  listAt,
  numberAt,
  optionalChoice,
  optionalText,
  textAt,
} from '@rideau/llm/formats/shared/reading/read-fields'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { DEVICE_PLATFORMS, type DevicePlatform } from '../../core/tenancy/device-auth.ts'
import type { Scope } from '../../core/tenancy/tenancy.ts'
import { decodeBase64 } from '../../identity/devices/encoding/base64.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import { assertOwnFields, chooseName, parseLifetime, parseScopesOrAll } from './parse-mint.ts'

/** What both device routes take. */
export interface DeviceRequest {
  readonly platform: DevicePlatform
  readonly keyId: Buffer
  readonly challenge: string
  readonly scopes: readonly Scope[]
  readonly lifetimeSeconds: number
}

export interface Attestation extends DeviceRequest {
  /** iOS: the attestation object alone. Android: certificates, the key's own first. */
  readonly parts: readonly Buffer[]
  readonly deviceCheckToken: string | undefined
}

export interface Assertion extends DeviceRequest {
  readonly assertion: Buffer
  /** null: it is part of the assertion, on iOS. */
  readonly counter: number | null
}

const COMMON = ['platform', 'key_id', 'challenge', 'scopes', 'ttl_seconds', 'expires_in']
const ATTEST_FIELDS: Readonly<Record<DevicePlatform, ReadonlySet<string>>> = {
  ios: new Set([...COMMON, 'attestation_object', 'attestation', 'device_check_token']),
  android: new Set([...COMMON, 'certificate_chain', 'device_check_token']),
}
const ASSERT_FIELDS: Readonly<Record<DevicePlatform, ReadonlySet<string>>> = {
  ios: new Set([...COMMON, 'assertion']),
  android: new Set([...COMMON, 'assertion', 'counter']),
}

/** Challenges have 43 characters. A longer one is wrong, and not worth a look-up. */
const MAX_CHALLENGE = 512
const MAX_CERTIFICATES = 32
const MAX_TOKEN = 8 * 1024
/** Characters of base64: several times the longest value that a device's checks accept. */
const MAX_BASE64 = 64 * 1024
/** Stands for every longer value, which the device's checks refuse by its length. 10 MiB of base64 take 13 to 23 ms to decode. */
const OVER_LONG = Buffer.alloc(MAX_BASE64)

export function parseAttestation(body: JsonObject, ctx: IdentifiedContext): Attestation {
  const platform = parsePlatform(body)
  assertOwnFields(body, ATTEST_FIELDS[platform], ATTEST_FIELDS[otherThan(platform)])
  return {
    ...parseCommon(body, platform, ctx),
    parts: platform === 'ios' ? [parseObject(body)] : parseChain(body),
    deviceCheckToken: parseDeviceCheckToken(body),
  }
}

export function parseAssertion(body: JsonObject, ctx: IdentifiedContext): Assertion {
  const platform = parsePlatform(body)
  assertOwnFields(body, ASSERT_FIELDS[platform], ASSERT_FIELDS[otherThan(platform)])
  const counter =
    platform === 'ios' ? null : numberAt(body.counter, 'counter', { min: 0, max: 2 ** 32 - 1, integer: true })
  return { ...parseCommon(body, platform, ctx), assertion: bytesAt(body.assertion, 'assertion'), counter }
}

function otherThan(platform: DevicePlatform): DevicePlatform {
  return platform === 'ios' ? 'android' : 'ios'
}

function parsePlatform(body: JsonObject): DevicePlatform {
  return optionalChoice(body, 'platform', DEVICE_PLATFORMS) ?? 'ios'
}

function parseCommon(body: JsonObject, platform: DevicePlatform, ctx: IdentifiedContext): DeviceRequest {
  const challenge = textAt(body.challenge, 'challenge')
  if (challenge === '' || challenge.length > MAX_CHALLENGE) {
    throw invalid('challenge', 'must be a challenge as the challenge route returned it.')
  }
  return {
    platform,
    keyId: bytesAt(body.key_id, 'key_id'),
    challenge,
    scopes: parseScopesOrAll(body.scopes, ctx.caller),
    lifetimeSeconds: parseLifetime(body),
  }
}

function parseObject(body: JsonObject): Buffer {
  const name = chooseName(body, 'attestation_object', 'attestation')
  return bytesAt(body[name], name)
}

function parseChain(body: JsonObject): Buffer[] {
  const chain = listAt(body.certificate_chain, 'certificate_chain')
  if (chain.length === 0 || chain.length > MAX_CERTIFICATES) {
    throw invalid(
      'certificate_chain',
      `must have 1 to ${MAX_CERTIFICATES} certificates; got ${chain.length}.`,
    )
  }
  return chain.map((item, at) => bytesAt(item, `certificate_chain[${at}]`))
}

function parseDeviceCheckToken(body: JsonObject): string | undefined {
  const token = optionalText(body, 'device_check_token')
  if (token !== undefined && (token === '' || token.length > MAX_TOKEN)) {
    throw invalid('device_check_token', `must have 1 to ${MAX_TOKEN} characters.`)
  }
  return token
}

/** Returns the bytes of base64 or base64url. What they must be is checked with the device, and answered as one fault. */
function bytesAt(value: JsonObject[string] | undefined, path: string): Buffer {
  const text = textAt(value, path)
  if (text.length > MAX_BASE64) return OVER_LONG
  const bytes = decodeBase64(text, MAX_BASE64)
  if (bytes === undefined) throw invalid(path, 'must be base64 or base64url.')
  return bytes
}
