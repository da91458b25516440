import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { JSONWebKeySet, JWK } from 'jose'
import { ShortTicks } from '../core/short-ticks.ts'
import {
  ED25519_NAMES,
  type FederatedConfig,
  type SigningAlgorithm,
} from '../core/tenancy/federated-config.ts'
import type { EgressPolicy } from '../http/egress/egress.ts'
import { FetchError, fetchJson } from './fetch-json.ts'

/** The public keys by issuer. */
export type KeySets = ReadonlyMap<string, JSONWebKeySet>

/** The configuration does not work. The message is public; `field` is the setting at fault. */
export class FederatedConfigError extends Error {
  override readonly name = 'FederatedConfigError'
  readonly field: 'issuer' | 'jwks_url' | 'algorithms'

  constructor(field: FederatedConfigError['field'], message: string) {
    super(message)
    this.field = field
  }
}

const MAX_KEYS = 50

/** Fetches the JSON document at an address. Throws FetchError. */
type FetchDocument = (address: string) => Promise<unknown>

/**
 * Fetches each issuer's public keys, from jwks_url or by OpenID Connect discovery. `run` makes each call of a host, so that
 * it can wait. Throws FederatedConfigError.
 */
export async function fetchKeySets(
  config: FederatedConfig,
  policy: EgressPolicy,
  run: (call: () => Promise<unknown>) => Promise<unknown> = call => call(),
): Promise<KeySets> {
  const { issuers, jwksUrl, algorithms } = config
  const fetch: FetchDocument = address => run(() => fetchJson(address, policy))
  if (jwksUrl !== null) {
    const set = await fetchKeySet(jwksUrl, 'jwks_url', algorithms, fetch)
    return new Map(issuers.map(issuer => [issuer, set]))
  }
  const sets = issuers.map(async issuer => {
    const address = await discoverKeySet(issuer, fetch)
    return [issuer, await fetchKeySet(address, 'issuer', algorithms, fetch)] as const
  })
  return new Map(await Promise.all(sets))
}

/** The URL of an issuer's key set, from its discovery document. */
async function discoverKeySet(issuer: string, fetch: FetchDocument): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchDocument(address, 'issuer', "The issuer's discovery document", fetch)
  // Otherwise the keys of another issuer would be accepted for this one.
  if (!isObject(document) || document.issuer !== issuer) {
    throw new FederatedConfigError('issuer', "The issuer's discovery document names another issuer.")
  }
  if (typeof document.jwks_uri !== 'string') {
    throw new FederatedConfigError('issuer', "The issuer's discovery document names no key set.")
  }
  return document.jwks_uri
}

async function fetchKeySet(
  address: string,
  field: 'issuer' | 'jwks_url',
  algorithms: readonly SigningAlgorithm[],
  fetch: FetchDocument,
): Promise<JSONWebKeySet> {
  const document = await fetchDocument(address, field, 'The key set', fetch)
  if (!isObject(document) || !Array.isArray(document.keys) || !document.keys.every(isObject)) {
    throw new FederatedConfigError(field, 'The key set is not a JSON Web Key Set.')
  }
  if (document.keys.length > MAX_KEYS) {
    throw new FederatedConfigError(field, `The key set has more than ${MAX_KEYS} keys.`)
  }
  const signing = (document.keys as JWK[]).filter(isForSigning).map(toPublicFields)
  const fitting = signing.filter(key => algorithms.some(algorithm => fits(key, algorithm)))
  const keys = await filterUsable(fitting)
  if (keys.length > 0) return { keys }
  if (fitting.length === signing.length) {
    throw new FederatedConfigError(field, 'The key set has no public signing key.')
  }
  throw new FederatedConfigError('algorithms', 'No key of the key set fits one of the algorithms.')
}

/** Returns the keys that are usable, in short ticks: a key on a large curve takes up to a millisecond. */
async function filterUsable(keys: readonly JWK[]): Promise<JWK[]> {
  const ticks = new ShortTicks()
  const usable: JWK[] = []
  for (const key of keys) {
    if (ticks.isOver) await ticks.next()
    if (isUsable(key)) usable.push(key)
  }
  return usable
}

/** Fetches a document. Throws FederatedConfigError with the field and the document's name. */
async function fetchDocument(
  address: string,
  field: 'issuer' | 'jwks_url',
  what: string,
  fetch: FetchDocument,
): Promise<unknown> {
  try {
    return await fetch(address)
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    throw new FederatedConfigError(field, `${what} could not be fetched: ${error.message}.`)
  }
}

/** What verification needs of a key. Certificate chains and fields of a provider's own are dropped: key sets are kept. */
const FIELDS = ['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e'] as const

/** Identity providers use 65537. */
const MAX_EXPONENT = 2n ** 32n

/** The modulus of an RSA key of 8192 bits has 1366 characters. */
const MAX_FIELD_LENGTH = 2048

function toPublicFields(jwk: JWK): JWK {
  // Tokens are compared with a key's `alg` by text, and a token of this algorithm may have either name.
  const isEd25519 = jwk.kty === 'OKP' && ED25519_NAMES.some(name => name === jwk.alg)
  const names = FIELDS.filter(name => jwk[name] !== undefined && !(isEd25519 && name === 'alg'))
  return Object.fromEntries(names.map(name => [name, jwk[name]])) as JWK
}

/** True for what says that it is a public signing key. Secrets and private keys are skipped. */
function isForSigning(jwk: JWK): boolean {
  if (jwk.kty === 'oct' || jwk.d !== undefined) return false
  if (jwk.use !== undefined && jwk.use !== 'sig') return false
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify')))
    return false
  return FIELDS.every(name => {
    const field: unknown = jwk[name]
    return field === undefined || (typeof field === 'string' && field.length <= MAX_FIELD_LENGTH)
  })
}

/** True for a public key of sufficient strength. */
function isUsable(jwk: JWK): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
    const { modulusLength: bits, publicExponent = 0n } = asymmetricKeyDetails ?? {}
    // A large exponent would make each verification slow.
    return bits === undefined || (bits >= 2048 && bits <= 8192 && publicExponent < MAX_EXPONENT)
  } catch {
    return false
  }
}

const CURVES: Readonly<Record<string, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
  EdDSA: 'Ed25519',
}

/** True if the key, of which only the public fields are left, can verify signatures of the algorithm. */
function fits(jwk: JWK, algorithm: SigningAlgorithm): boolean {
  if (jwk.alg !== undefined && jwk.alg !== algorithm) return false
  const curve = CURVES[algorithm]
  return curve === undefined ? jwk.kty === 'RSA' : jwk.crv === curve
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
