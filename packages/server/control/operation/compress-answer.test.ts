import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { compressAnswer } from './compress-answer.ts'

const LONG = { data: 'x'.repeat(4096) }
const app = Fastify()
app.addHook('onSend', compressAnswer)
app.get('/long', async () => LONG)
app.get('/short', async () => ({ data: 'x' }))
app.get('/tagged', async (_, reply) => reply.header('ETag', '"1"').send(LONG))
app.post('/long', async () => LONG)
afterAll(() => app.close())

const call = (method: 'GET' | 'POST', url: string, accepted?: string) =>
  app.inject({ method, url, headers: accepted === undefined ? {} : { 'accept-encoding': accepted } })

test.each(['gzip', 'br, gzip', 'gzip;q=0.5, br', 'deflate,GZIP', 'gzip; q=1.0'])(
  'a long answer is compressed for %j',
  async accepted => {
    const { headers, rawPayload } = await call('GET', '/long', accepted)
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
    expect(Number(headers['content-length'])).toBe(rawPayload.length)
    expect(rawPayload.length).toBeLessThan(200)
    expect(JSON.parse(gunzipSync(rawPayload).toString())).toEqual(LONG)
  },
)

test.each([undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.000, br', 'xgzip', 'gzip2', 'identity'])(
  'a long answer stays as it is for %j',
  async accepted => {
    const response = await call('GET', '/long', accepted)
    expect([response.headers['content-encoding'], response.headers.vary]).toEqual([
      ...[undefined, 'Accept-Encoding'],
    ])
    expect(response.json()).toEqual(LONG)
  },
)

test.each([
  ['GET', '/short'],
  ['GET', '/tagged'],
  ['POST', '/long'],
] as const)('%s %s stays as it is', async (method, url) => {
  const response = await call(method, url, 'gzip')
  expect(response.headers['content-encoding']).toBeUndefined()
  expect(response.json()).toHaveProperty('data')
})
