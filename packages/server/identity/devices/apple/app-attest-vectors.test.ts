import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readVectorFiles, toOutcome } from '../../../testing/harness/attestation-vectors.ts'
import { parseKeyId } from '../key-id.ts'
import { parseTrustAnchors } from '../x509/trust-anchor.ts'
import { APP_ATTESTATION_ROOTS } from './app-attestation-roots.ts'
import { verifyAppAssertion } from './verify-app-assertion.ts'
import { type AppAttestEnvironment, verifyAppAttestation } from './verify-app-attestation.ts'

interface Vector {
  readonly name?: string
  readonly id?: string
  readonly kind: 'attestation' | 'assertion'
  readonly expect: 'accept' | 'reject'
  readonly appId: string | null
  readonly environment: AppAttestEnvironment
  readonly keyId: string
  readonly challenge?: string
  readonly clientData?: string | null
  readonly clientDataMode?: 'raw' | 'sha256' | null
  readonly clientDataHash?: string | null
  readonly now?: string
  readonly verifyAt?: string
  readonly expectAt?: Readonly<Record<string, string>>
  readonly expectedPublicKeySpki?: string
  readonly attestation: string
  readonly assertion: string
  readonly publicKeySpki: string
  readonly storedCounter?: number
  readonly replayStoredCounter?: number
  readonly newCounter?: number
}

const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64')
const real = readVectorFiles<Vector[]>('apple-real.json', 29).flat()
const synthetic = readVectorFiles<{ rootPem: string; vectors: Vector[] }>('apple-synthetic.json', 53)

/** What the publisher passed to the system: mostly the hash of the challenge, in some samples the challenge itself. */
function toClientDataHash(vector: Vector): Buffer {
  if (vector.clientDataHash != null) return fromBase64(vector.clientDataHash)
  const data = fromBase64(vector.clientData ?? '')
  return vector.clientDataMode === 'raw' ? data : createHash('sha256').update(data).digest()
}

function attest(vector: Vector, now: string, roots = APP_ATTESTATION_ROOTS) {
  const keyId = parseKeyId(vector.keyId)
  if (keyId === undefined) throw new Error('The vector has no key id.')
  return verifyAppAttestation({
    attestation: fromBase64(vector.attestation),
    keyId,
    clientDataHash: toClientDataHash(vector),
    appIds: ['TEAM000000.another.app', vector.appId ?? ''],
    environment: vector.environment,
    now: Date.parse(now),
    roots,
  })
}

const assert = (vector: Vector, storedCounter = vector.storedCounter ?? 0) =>
  verifyAppAssertion({
    assertion: fromBase64(vector.assertion),
    publicKey: fromBase64(vector.publicKeySpki),
    clientDataHash: toClientDataHash(vector),
    appId: vector.appId ?? '',
    storedCounter,
  })

test('each set has objects to accept and objects to reject', () => {
  for (const vectors of [real, ...synthetic.map(set => set.vectors)].filter(({ length }) => length > 0)) {
    expect(new Set(vectors.map(vector => vector.expect))).toEqual(new Set(['accept', 'reject']))
  }
})

describe.skipIf(real.length === 0)("attestations of real devices, with Apple's root", () => {
  const attestations = real.filter(({ kind }) => kind === 'attestation')
  test.each(attestations)('$id: $expect', vector => {
    const verdict = attest(vector, vector.verifyAt ?? '')
    expect(toOutcome(verdict)).toMatch(vector.expect)
    if (!verdict.valid) return
    expect(verdict).toMatchObject({ appId: vector.appId, counter: 0 })
    expect(verdict.publicKey.toString('base64')).toBe(vector.expectedPublicKeySpki)
    for (const [time, expected] of Object.entries(vector.expectAt ?? {})) {
      expect([time, attest(vector, time).valid]).toEqual([time, expected === 'accept'])
    }
    const other = vector.environment === 'production' ? 'development' : 'production'
    expect(attest({ ...vector, environment: other }, vector.verifyAt ?? '').valid).toBe(false)
  })
})

describe.skipIf(real.length === 0)('assertions of real devices', () => {
  test.each(real.filter(({ kind }) => kind === 'assertion'))('$id: $expect', vector => {
    const verdict = assert(vector)
    expect(toOutcome(verdict)).toMatch(vector.expect)
    if (vector.replayStoredCounter !== undefined) {
      expect(assert(vector, vector.replayStoredCounter)).toMatchObject({ valid: false })
    }
  })
})

describe.each(synthetic)('made objects, set $#', ({ rootPem, vectors }) => {
  const roots = parseTrustAnchors(rootPem)

  test.each(vectors.filter(({ kind }) => kind === 'attestation'))('attestation $name: $expect', vector => {
    const verdict = attest(vector, vector.now ?? '', [...APP_ATTESTATION_ROOTS, ...roots])
    expect(toOutcome(verdict)).toMatch(vector.expect)
    expect(attest(vector, vector.now ?? '').valid).toBe(false)
  })

  test.each(vectors.filter(({ kind }) => kind === 'assertion'))('assertion $name: $expect', vector => {
    const verdict = assert(vector)
    expect(toOutcome(verdict)).toMatch(vector.expect)
    if (verdict.valid) expect(verdict.counter).toBe(vector.newCounter)
  })
})
