import { describe, expect, test } from 'vitest'
import { readVectorFiles, toOutcome } from '../../../testing/harness/attestation-vectors.ts'
import { sha256 } from '../client-data.ts'
import { toVerdict } from '../encoding/invalid-device-error.ts'
import { parseCertificate } from '../x509/certificate.ts'
import { KEY_ATTESTATION_ROOTS } from './key-attestation-roots.ts'
import { parseRevocationList } from './revocation-list.ts'
import { readKeyChain, verifyKeyAttestation } from './verify-key-attestation.ts'

interface Vector {
  readonly id: string
  readonly verifyAt: string
  readonly chain: readonly string[]
  readonly expectChain: 'accept' | 'reject'
  readonly expectStrictPolicy: 'accept' | 'reject'
  readonly keyDescription?: {
    readonly attestationVersion: number
    readonly attestationSecurityLevel: number
    readonly keyMintVersion: number
    readonly keyMintSecurityLevel: number
    readonly challenge: string
    readonly app: {
      readonly packages: readonly { readonly name: string }[]
      readonly digests: readonly string[]
    } | null
    readonly rot: { readonly deviceLocked: boolean; readonly verifiedBootState: string } | null
    readonly origin: number | null
    readonly purpose: readonly number[] | null
    readonly algorithm: number | null
    readonly ecCurve: number | null
  } | null
}

const vectors = readVectorFiles<Vector[]>('android-real.json', 17).flat()
const STATES = ['VERIFIED', 'SELF_SIGNED', 'UNVERIFIED', 'FAILED']

const toChain = ({ chain }: Vector): Buffer[] => chain.map(each => Buffer.from(each, 'base64'))
const toInput = (vector: Vector) => ({
  certificateChain: toChain(vector),
  revokedSerials: new Set<string>(),
  now: Date.parse(vector.verifyAt),
  roots: KEY_ATTESTATION_ROOTS,
})

/** Verifies with whatever challenge and app the vector itself names. */
function verify(vector: Vector, change: object = {}) {
  const app = vector.keyDescription?.app
  return verifyKeyAttestation({
    ...toInput(vector),
    keyId: sha256(parseCertificate(toChain(vector)[0] ?? Buffer.alloc(0)).publicKey),
    attestationChallenge: Buffer.from(vector.keyDescription?.challenge ?? '', 'base64'),
    packageNames: app?.packages.map(({ name }) => name) ?? [],
    signingDigests: app?.digests ?? [],
    ...change,
  })
}

test('the set has chains to accept and chains to reject', () => {
  const expected = new Set(vectors.map(({ expectChain }) => expectChain))
  expect(expected.size).toBe(vectors.length === 0 ? 0 : 2)
})

describe.skipIf(vectors.length === 0)("key attestations of real devices, with Google's roots", () => {
  test.each(vectors)('the chain of $id: $expectChain', vector => {
    const verdict = toVerdict(() => ({ valid: true, ...readKeyChain(toInput(vector)) }))
    expect(toOutcome(verdict)).toMatch(vector.expectChain)
    const expected = vector.keyDescription
    if (!verdict.valid || expected == null) return
    const { description } = verdict
    const { attestationVersion, attestationSecurityLevel, keyMintVersion, keyMintSecurityLevel } = expected
    expect(description).toMatchObject({
      attestationVersion,
      attestationSecurityLevel,
      keyMintVersion,
      keyMintSecurityLevel,
    })
    expect(description.challenge.toString('base64')).toBe(expected.challenge)
    const { hardwareEnforced: hardware, softwareEnforced: software } = description
    expect(software.application?.packageNames).toEqual(expected.app?.packages.map(({ name }) => name))
    expect(software.application?.signingDigests).toEqual(expected.app?.digests)
    const { origin, algorithm, ecCurve, purposes, rootOfTrust } = hardware
    expect([origin, algorithm, ecCurve]).toEqual([expected.origin, expected.algorithm, expected.ecCurve])
    expect(purposes?.toSorted()).toEqual(expected.purpose?.toSorted())
    expect(rootOfTrust?.deviceLocked).toBe(expected.rot?.deviceLocked)
    expect(STATES[rootOfTrust?.verifiedBootState ?? -1]).toBe(expected.rot?.verifiedBootState)
  })

  test.each(vectors)('the policy on $id: $expectStrictPolicy', vector => {
    const verdict = verify(vector)
    expect(toOutcome(verdict)).toMatch(vector.expectStrictPolicy)
    if (!verdict.valid) return
    expect(verify(vector, { attestationChallenge: Buffer.from('another') }).valid).toBe(false)
    expect(verify(vector, { packageNames: ['com.example.other'] }).valid).toBe(false)
    expect(verify(vector, { signingDigests: ['00'.repeat(32)] }).valid).toBe(false)
    expect(verify(vector, { keyId: Buffer.alloc(32) }).valid).toBe(false)
    expect(verify(vector, { roots: [] }).valid).toBe(false)
    for (const bytes of toChain(vector)) {
      const { serial } = parseCertificate(bytes)
      const revokedSerials = parseRevocationList({ entries: { [serial]: { status: 'SUSPENDED' } } })
      expect(verify(vector, { revokedSerials }).valid).toBe(false)
    }
  })
})
