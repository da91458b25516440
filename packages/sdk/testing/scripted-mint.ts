import {
  createHash,
  createPublicKey,
  createVerify,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import type { AndroidDevice, IosDevice } from '../from-device.ts'
import { type Reply, sendError, sendJson } from './scripted-server.ts'

// The mint routes as the gateway specifies them, for the tests of this library only. `replyOf` is what stands in for the gateway:
// once it serves these routes, tests call it instead (see gateway-front.ts, the only place that decides).

export const MINT_PATHS = [
  '/v1/client-tokens',
  '/v1/device/challenge',
  '/v1/device/attest',
  '/v1/device/assert',
] as const

export interface ScriptedMint {
  readonly publishableKey: string
  readonly secretKey: string
  /** The identity tokens that are accepted, each with its user. */
  readonly identities: Map<string, string>
  replyOf(path: (typeof MINT_PATHS)[number]): Reply
  /** Every key that was attested, with its highest counter. */
  readonly devices: ReadonlyMap<string, { key: KeyObject; counter: number }>
}

/** `mintToken` makes the token of an end user. */
export function createScriptedMint(
  keys: { readonly publishableKey: string; readonly secretKey: string },
  mintToken: (endUserId: string) => string,
): ScriptedMint {
  const identities = new Map<string, string>()
  const challenges = new Set<string>()
  const devices = new Map<string, { key: KeyObject; counter: number }>()
  const badDevice = sendError(401, 'invalid_device_attestation')
  const minted = (id: string): Reply =>
    sendJson(
      201,
      { token: mintToken(id), expires_at: new Date(Date.now() + 900_000).toISOString(), end_user_id: id },
      { 'cache-control': 'no-store' },
    )

  const mint: Reply = (res, request) => {
    const bearer = request.headers.authorization
    const { end_user, identity_token, scopes } = request.json ?? {}
    if (!Array.isArray(scopes) || scopes.length === 0) {
      return sendError(400, 'invalid_scope', {}, { param: 'scopes' })(res, request)
    }
    if (bearer === `Bearer ${keys.secretKey}` && typeof end_user?.id === 'string') {
      return minted(end_user.id)(res, request)
    }
    if (bearer !== `Bearer ${keys.publishableKey}`) return sendError(401, 'invalid_key')(res, request)
    const user = identities.get(identity_token)
    return (user === undefined ? sendError(401, 'invalid_identity_token') : minted(user))(res, request)
  }

  const challenge: Reply = (res, request) => {
    const text = randomBytes(32).toString('base64url')
    challenges.add(text)
    sendJson(201, { challenge: text, expires_at: new Date(Date.now() + 300_000).toISOString() })(res, request)
  }

  // A stand-in for hardware: the "attestation" is the public key as SubjectPublicKeyInfo, and its hash is the key's id.
  const attest: Reply = (res, request) => {
    const body = request.json ?? {}
    const proof = body.platform === 'android' ? body.certificate_chain?.[0] : body.attestation_object
    const spki = Buffer.from(String(proof), 'base64')
    const isKnown = devices.has(body.key_id)
    if (!challenges.delete(body.challenge) || isKnown || idOf(spki) !== body.key_id) {
      return badDevice(res, request)
    }
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    devices.set(body.key_id, { key, counter: 0 })
    minted(`device:${body.key_id.slice(0, 8)}`)(res, request)
  }

  const assert: Reply = (res, request) => {
    const { platform, key_id, challenge: text, assertion, counter } = request.json ?? {}
    const device = devices.get(key_id)
    if (!challenges.delete(text) || device === undefined) return badDevice(res, request)
    const message = platform === 'android' ? toAndroidMessage(text, counter) : toIosMessage(text)
    const isSigned = createVerify('sha256').update(message).verify(device.key, assertion, 'base64')
    if (!isSigned || (platform === 'android' && counter <= device.counter)) return badDevice(res, request)
    if (platform === 'android') device.counter = counter
    minted(`device:${key_id.slice(0, 8)}`)(res, request)
  }

  const replies = new Map([
    ['/v1/client-tokens', mint],
    ['/v1/device/challenge', challenge],
    ['/v1/device/attest', attest],
    ['/v1/device/assert', assert],
  ])
  return { ...keys, identities, devices, replyOf: path => replies.get(path) as Reply }
}

const idOf = (spki: Buffer): string => createHash('sha256').update(spki).digest('base64')

const toIosMessage = (challenge: string): Buffer => createHash('sha256').update(challenge, 'utf8').digest()

/** The text's UTF-8 bytes, a zero byte, and the counter as four bytes, big-endian. */
function toAndroidMessage(challenge: string, counter: number): Buffer {
  const end = Buffer.alloc(5)
  end.writeUInt32BE(counter, 1)
  return Buffer.concat([Buffer.from(challenge, 'utf8'), end])
}

interface SoftKey {
  id: string
  spki: string
  key: KeyObject
  counter: number
}

function createSoftKey(): SoftKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return { id: idOf(spki), spki: spki.toString('base64'), key: privateKey, counter: 0 }
}

/** A device whose native code keeps its key in memory. `made` counts the keys. */
export function createIosDevice(): IosDevice & { made: number } {
  let stored: SoftKey | undefined
  return {
    made: 0,
    platform: 'ios',
    findKeyId: async () => stored?.id ?? null,
    async attest() {
      this.made++
      stored = createSoftKey()
      return { keyId: stored.id, attestationObject: stored.spki }
    },
    async assert(_, challenge) {
      const { key } = stored as SoftKey
      return { assertion: sign('sha256', toIosMessage(challenge), key).toString('base64') }
    },
  }
}

export function createAndroidDevice(): AndroidDevice & { made: number } {
  let stored: SoftKey | undefined
  return {
    made: 0,
    platform: 'android',
    findKeyId: async () => stored?.id ?? null,
    async attest() {
      this.made++
      stored = createSoftKey()
      return { keyId: stored.id, certificateChain: [stored.spki] }
    },
    async assert(_, challenge) {
      const key = stored as SoftKey
      key.counter++
      const message = toAndroidMessage(challenge, key.counter)
      return { assertion: sign('sha256', message, key.key).toString('base64'), counter: key.counter }
    },
  }
}
