import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'
import { readVectorFiles } from '../../testing/harness/attestation-vectors.ts'
import type { GatewayDeps } from '../deps.ts'

interface Vector {
  readonly name: string
  readonly kind: 'attestation' | 'assertion'
  readonly expect: 'accept' | 'reject'
  readonly appId: string
  readonly environment: 'production' | 'development'
  readonly keyId: string
  readonly challenge?: string
  readonly now: string
  readonly attestation?: string
  readonly assertion?: string
  readonly publicKeySpki?: string
  readonly storedCounter?: number
}

const sets = readVectorFiles<{ rootPem: string; vectors: Vector[] }>('apple-synthetic.json', 53)

/** Attestations that can be sent over HTTP. */
const listUsable = (vectors: readonly Vector[]): Vector[] =>
  vectors.filter(
    each =>
      each.kind === 'attestation' &&
      typeof each.challenge === 'string' &&
      typeof each.attestation === 'string',
  )

// Also the one test of this file where there are no sets: a file without tests is a failure.
test('every set has attestations of both kinds to send', () => {
  for (const { vectors } of sets) {
    const verdicts = new Set(listUsable(vectors).map(vector => vector.expect))
    expect(verdicts).toEqual(new Set(['accept', 'reject']))
  }
})

describe.each(sets)('made attestations over HTTP, set $#', ({ rootPem, vectors }) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-roots-'))
  let app: TestApp
  let deps: GatewayDeps
  let now: number | undefined
  beforeAll(async () => {
    const file = path.join(folder, 'roots.pem')
    writeFileSync(file, rootPem)
    app = await openTestApp(
      { RIDEAU_DEVICE_EXTRA_ROOTS: file, RIDEAU_TRUSTED_PROXIES: '127.0.0.1' },
      {
        ...TEST_OVERRIDES,
        onDeps: made => {
          deps = made
          // The certificates of the vectors are valid at times of their own.
          Object.assign(made, { now: () => now ?? Date.now() })
        },
      },
    )
  })
  afterAll(async () => {
    await app.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const usable = listUsable(vectors)

  test.each(usable.map((vector, index) => ({ ...vector, index })))('$name: $expect', async vector => {
    const { appId, environment, challenge = '', keyId, attestation, index } = vector
    now = undefined
    const [team = '', ...bundle] = appId.split('.')
    // Every vector has a project of its own, because several have one key.
    const project = (await app.manage('POST', `/v1/orgs/${app.orgId}/projects`, { name: `P${index}` })).body
    const ios = { team_id: team, bundle_ids: [bundle.join('.')], environment }
    expect((await app.manage('PUT', `/v1/projects/${project.id}/device-auth`, { ios })).status).toBe(200)
    const { data } = (await app.manage('GET', `/v1/projects/${project.id}/environments`)).body
    const { key } = await app.createKey({ kind: 'publishable' }, data[0].id)
    now = Date.parse(vector.now)
    await deps.devices.insertChallenge({
      hash: createHash('sha256').update(challenge).digest(),
      orgId: app.orgId,
      environmentId: data[0].id,
      now: new Date(now),
      expiresAt: new Date(now + 300_000),
    })
    const body = { key_id: keyId, attestation, challenge }
    const headers = { 'x-forwarded-for': `203.0.113.${index}` }
    const response = await app.call('/v1/device/attest', body, { key, headers })
    const { error } = (await response.json()) as { error?: { code: string } }
    const outcome = [response.status, error?.code].join(' ').trim()
    if (vector.expect === 'accept') expect(outcome).toBe('201')
    else expect(outcome).toBe('401 invalid_device_attestation')
  })

  const assertions = vectors.filter(
    each =>
      each.kind === 'assertion' && typeof each.challenge === 'string' && typeof each.assertion === 'string',
  )

  test.each(assertions.map((vector, index) => ({ ...vector, index })))('$name: $expect', async vector => {
    const { appId, challenge = '', assertion, index } = vector
    now = undefined
    const [team = '', ...bundle] = appId.split('.')
    const project = (await app.manage('POST', `/v1/orgs/${app.orgId}/projects`, { name: `A${index}` })).body
    const ios = { team_id: team, bundle_ids: [bundle.join('.')], environment: 'production' }
    await app.manage('PUT', `/v1/projects/${project.id}/device-auth`, { ios })
    const { data } = (await app.manage('GET', `/v1/projects/${project.id}/environments`)).body
    const { key } = await app.createKey({ kind: 'publishable' }, data[0].id)
    const at = { orgId: app.orgId, environmentId: data[0].id, now: new Date() }
    const hash = createHash('sha256').update(challenge).digest()
    await deps.devices.insertChallenge({ ...at, hash, expiresAt: new Date(Date.now() + 300_000) })
    const keyId = createHash('sha256').update(String(index)).digest()
    await deps.devices.insert({
      ...at,
      id: deps.newId(),
      projectId: project.id,
      platform: 'ios',
      keyId,
      publicKey: Buffer.from(String(vector.publicKeySpki), 'base64'),
      appId,
      counter: Number(vector.storedCounter),
      receipt: null,
      statement: { environment: 'production' },
    })
    const body = { key_id: keyId.toString('base64'), assertion, challenge }
    const headers = { 'x-forwarded-for': `198.51.100.${index}` }
    const response = await app.call('/v1/device/assert', body, { key, headers })
    const { error } = (await response.json()) as { error?: { code: string } }
    const outcome = [response.status, error?.code].join(' ').trim()
    if (vector.expect === 'accept') expect(outcome).toBe('201')
    else expect(outcome).toBe('401 invalid_device_attestation')
  })
})
