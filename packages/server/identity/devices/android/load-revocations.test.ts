import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openConfiguredEgress } from '../../../http/egress/open-egress.ts'
import { type IdentityProvider, openIdentityProvider } from '../../../testing/fakes/identity-provider.ts'
import { fetchRevocations, readRevocations } from './load-revocations.ts'

const LIST = { entries: { '00CC66E9': { status: 'SUSPENDED' }, '6681': { status: 'REVOKED' } } }
const SERIALS = ['6681', 'cc66e9']

/** A host of scripted answers. */
let host: IdentityProvider
beforeAll(async () => {
  host = await openIdentityProvider()
})
afterAll(() => host.close())

const policy = openConfiguredEgress({ allowPrivate: true })
const load = (given: Parameters<IdentityProvider['answers']['set']>[1], by = policy) => {
  host.answers.set('/status', given)
  return fetchRevocations(`${host.issuer}/status`, by, new AbortController().signal)
}

describe('a list from a host', () => {
  test.each([
    ['max-age=86400, public', 86_400_000],
    ['private, Max-Age="60"', 60_000],
    ['no-store', 0],
    ['no-cache, max-age=60', 0],
    ['public', undefined],
    ['', undefined],
  ])('has its serials, and the time of Cache-Control: %j', async (header, maxAgeMs) => {
    const headers: Record<string, string> = header === '' ? {} : { 'cache-control': header }
    const loaded = await load({ body: LIST, headers })
    expect([...loaded.serials].sort()).toEqual(SERIALS)
    expect(loaded.maxAgeMs).toBe(maxAgeMs)
  })

  test.each<[string, Parameters<typeof load>[0], RegExp]>([
    ['an error', { status: 500, body: LIST }, /status 500/],
    ['a redirect', { status: 302, headers: { location: '/keys' }, body: LIST }, /status 302/],
    ['a page', { body: '<html></html>' }, /not a list of revoked certificates/],
    ['another document', { body: { keys: [] } }, /not a list of revoked certificates/],
    ['10 MB', { body: `{"entries":{},"x":"${'x'.repeat(10_000_000)}"}` }, /larger than 8 MiB/],
  ])('is refused where the host sends %s', async (_, answer, reason) => {
    await expect(load(answer)).rejects.toThrow(reason)
  })

  test('is refused where the host hangs', async () => {
    await expect(load({ body: LIST, after: new Promise(() => {}) })).rejects.toThrow(/within 5 seconds/)
  })

  test('is not fetched from an address that the egress guard refuses', async () => {
    host.asked.length = 0
    await expect(load({ body: LIST }, openConfiguredEgress({ allowPrivate: false }))).rejects.toThrow(
      /not allowed/,
    )
    expect(host.asked).toEqual([])
  })

  test('ends with the program', async () => {
    const closing = new AbortController()
    host.answers.set('/status', { body: LIST, after: new Promise(() => {}) })
    const loading = fetchRevocations(`${host.issuer}/status`, policy, closing.signal)
    closing.abort()
    await expect(loading).rejects.toThrow()
  })
})

test('a list from a file has its serials, and a file of another form is refused', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-status-'))
  const file = path.join(folder, 'status.json')
  writeFileSync(file, JSON.stringify(LIST))
  expect([...(await readRevocations(file)).serials].sort()).toEqual(SERIALS)
  writeFileSync(file, '[]')
  await expect(readRevocations(file)).rejects.toThrow(/not a list of revoked certificates/)
  rmSync(folder, { recursive: true })
  await expect(readRevocations(file)).rejects.toThrow(/ENOENT/)
})
