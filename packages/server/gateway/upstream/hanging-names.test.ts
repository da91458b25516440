import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { openScriptedDns, type ScriptedDns } from '../../testing/fakes/scripted-dns.ts'
import { json, openScriptedUpstream, type ScriptedUpstream } from '../../testing/fakes/scripted-upstream.ts'
import { toTextHandler } from '../../testing/harness/text-handler.ts'
import { openHttpTransport } from './http-transport.ts'
import type { Transport } from './transport.ts'

let dns: ScriptedDns
let upstream: ScriptedUpstream
let transport: Transport
let port: string
beforeAll(async () => {
  dns = await openScriptedDns()
  dns.script('provider.test', { a: ['127.0.0.1'] })
  dns.script('hang.test', 'hang')
  upstream = await openScriptedUpstream()
  upstream.script(json(200, 'fine'))
  port = new URL(upstream.origin).port
  transport = openHttpTransport(openConfiguredEgress({ allowPrivate: true, dnsServers: [dns.server] }), {
    maxConnections: 16_384,
  })
})
afterAll(async () => {
  await transport.close()
  await Promise.all([upstream.close(), dns.close()])
})

function ownerOf(id: string): ShareOwner {
  return { environment: { orgId: id, id }, caller: undefined, endUser: undefined }
}

function call(hostname: string, owner: ShareOwner): Promise<string | UpstreamError> {
  return new Promise(resolve => {
    transport.call(
      { origin: `http://${hostname}:${port}`, path: '/', headers: {}, body: Buffer.from('{}') },
      toTextHandler(resolve),
      owner,
    )
  })
}

test('a thousand hanging base URLs of a tenant delay no connection of another, however many it opens', async () => {
  const ended: unknown[] = []
  const hanging = Array.from({ length: 1_000 }, (_, n) =>
    call(`n${n}.hang.test`, ownerOf('a')).then(result => ended.push(result)),
  )
  const b = ownerOf('b')
  for (const name of ['provider.test', 'one.provider.test', 'two.provider.test']) {
    expect(await call(name, b)).toBe('"fine"')
  }
  expect(ended.filter(result => (result as UpstreamError).kind !== 'unavailable')).toEqual([])
  await Promise.all(hanging)
  expect(ended.filter(result => (result as UpstreamError).kind !== 'unavailable')).toEqual([])
  // The first ones ran, most waited, and the rest failed at once.
  const asked = new Set(dns.queries.filter(query => query.includes('hang.test A')))
  expect(asked.size).toBeLessThanOrEqual(2 * 64)
})
