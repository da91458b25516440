import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { ErrorEnvelope } from '@rideau/llm/formats/shared/errors/error-envelope'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const JPEG = Buffer.from('ffd8ffe000104a464946000101000001', 'hex')

/** Failures are answered sooner than in production. Loopback answers in time. */
const FAST = { fetchTimes: { timeoutMs: 2_000, failureMs: 2_100 } }

let app: TestApp
let upstream: ScriptedUpstream
let host: ScriptedUpstream
let base: string
let requestedPaths: string[]

async function readError(response: Response): Promise<ErrorEnvelope['error']> {
  return ((await response.json()) as ErrorEnvelope).error
}

function serve(req: { readonly url?: string }, res: ServerResponse): void {
  const [path = ''] = (req.url ?? '').split('?')
  requestedPaths.push(path)
  const redirect = (to: string): void => void res.writeHead(302, { location: to }).end()
  if (path === '/a.png') res.writeHead(200, { 'content-type': 'text/plain' }).end(PNG)
  else if (path === '/b.jpg') res.writeHead(200, { 'content-type': 'image/jpeg' }).end(JPEG)
  else if (path === '/moved') redirect('/a.png')
  else if (path === '/round') redirect('/round')
  else if (path === '/file') redirect('file:///etc/passwd')
  else if (path === '/ftp') redirect(`ftp://${host.origin.slice('http://'.length)}/a.png`)
  else if (path.startsWith('/hops/')) redirect(path.length > 9 ? '/a.png' : `${path}x`)
  else if (path === '/drip') drip(res)
  else if (path === '/short') {
    res.writeHead(200, { 'content-length': String(PNG.length + 1) })
    res.write(PNG, () => res.socket?.destroy())
  } else if (path === '/packed')
    res.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(gzipSync(PNG))
  else if (path === '/metadata') redirect('http://169.254.169.254/latest/meta-data')
  else if (path === '/page') res.writeHead(200, { 'content-type': 'image/png' }).end('<html>secret</html>')
  else if (path === '/half') res.writeHead(200).end(Buffer.concat([PNG, Buffer.alloc(11 * 1024 * 1024)]))
  else if (path === '/large') res.writeHead(200).end(Buffer.concat([PNG, Buffer.alloc(20 * 1024 * 1024)]))
  else res.writeHead(404).end('secret')
}

/** The image, and then a byte now and then for ever. */
function drip(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'image/png' })
  res.write(PNG)
  const timer = setInterval(() => res.write('x'), 50)
  res.on('close', () => clearInterval(timer))
}

beforeAll(async () => {
  requestedPaths = []
  app = await openTestApp({}, { ...TEST_OVERRIDES, ...FAST, callerEgress: { allowPrivate: true } })
  upstream = await openScriptedUpstream()
  host = await openScriptedUpstream()
  host.script((res, { path: url }) => serve({ url }, res))
  base = host.origin
  await app.addCredential('gemini', { api_key: 'k', base_url: upstream.baseUrl })
  await app.addCredential('openai', { api_key: 'k', base_url: upstream.baseUrl })
})
afterAll(async () => {
  await Promise.all([upstream.close(), host.close()])
  await app.close()
})

const good = json(200, { candidates: [{ content: { parts: [{ text: 'A cat.' }] }, finishReason: 'STOP' }] })
const image = (url: string): object => ({ type: 'image_url', image_url: { url } })
const ask = (model: string, ...urls: string[]): Promise<Response> =>
  app.call('/openai/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...urls.map(image)] }],
  })
const MODEL = 'gemini/gemini-2.5-flash'

describe('images named by URL', () => {
  test('are fetched once each and inlined with the type of their bytes', async () => {
    upstream.script(good)
    requestedPaths = []
    const response = await ask(MODEL, `${base}/a.png`, `${base}/b.jpg`, `${base}/a.png`, `${base}/moved`)
    expect(response.status).toBe(200)
    const png = { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } }
    const jpeg = { inlineData: { mimeType: 'image/jpeg', data: JPEG.toString('base64') } }
    expect(upstream.requests.at(-1)?.body.contents).toEqual([
      { role: 'user', parts: [{ text: 'What is it?' }, png, jpeg, png, png] },
    ])
    expect(requestedPaths).toEqual(['/a.png', '/b.jpg', '/moved', '/a.png'])
  })

  test('are fetched once for all attempts', async () => {
    upstream.script(json(503, { error: { code: 503, status: 'UNAVAILABLE' } }), good)
    requestedPaths = []
    expect((await ask(MODEL, `${base}/a.png`)).headers.get('x-rideau-attempts')).toBe('2')
    expect(requestedPaths).toEqual(['/a.png'])
  })

  test('are not fetched for a provider that fetches them itself', async () => {
    upstream.script(completion('A cat.'))
    requestedPaths = []
    expect((await ask('openai/gpt-4o-mini', `${base}/a.png`)).status).toBe(200)
    expect(requestedPaths).toEqual([])
  })

  test.each([
    ['a page with the content type of an image', '/page'],
    ['nothing', '/nowhere'],
    ['a redirect to a forbidden address', '/metadata'],
    ['a redirect loop', '/round'],
    ['a redirect to a file', '/file'],
    ['a redirect to another scheme', '/ftp'],
    ['a chain of four redirects', '/hops/'],
    ['a body that never ends', '/drip'],
    ['a body shorter than its Content-Length', '/short'],
    ['a compressed image', '/packed'],
    ['more than the limit on all images', '/large'],
  ])("%s is refused by its place in the request, without the host's answer", async (_, path) => {
    const before = upstream.requests.length
    const response = await ask(MODEL, `${base}/a.png`, base + path)
    expect(response.status).toBe(400)
    const error = await readError(response)
    expect(error).toMatchObject({ code: 'invalid_request', param: 'messages[0].content[2].image_url.url' })
    // One message for all of them: it does not tell what is at an address.
    expect(error.message).toMatch(/image_url\.url: could not be fetched: it must lead to an image/)
    expect(error.message).not.toContain('secret')
    expect(upstream.requests.length).toBe(before)
  })

  test('are refused by their length before anything else', async () => {
    const response = await ask(MODEL, `https://${'a.'.repeat(12_000_000)}example/a.png`)
    const error = await readError(response)
    expect([response.status, error.param]).toEqual([400, 'messages[0].content[1].image_url.url'])
    expect(error.message).toContain('must have at most 8192 characters')
  })

  test('are refused above sixteen', async () => {
    requestedPaths = []
    const response = await ask(MODEL, ...Array.from({ length: 17 }, (_, n) => `${base}/a.png?${n}`))
    expect(response.status).toBe(400)
    expect((await readError(response)).param).toBe('messages[0].content[17].image_url.url')
    expect(requestedPaths).toHaveLength(16)
  })
})

describe('an image that is named twice', () => {
  test('counts twice among the bytes of all images', async () => {
    const before = upstream.requests.length
    upstream.script(good)
    const response = await ask(MODEL, `${base}/half`, `${base}/half`)
    expect(response.status).toBe(400)
    const error = await readError(response)
    expect(error).toMatchObject({ code: 'invalid_request', param: 'messages[0].content[2].image_url.url' })
    expect(error.message).toContain('all images of a request may have 20 MiB')
    expect(upstream.requests.length).toBe(before)
  })

  test('counts twice among the sixteen', async () => {
    requestedPaths = []
    const response = await ask(MODEL, ...Array.from({ length: 17 }, () => `${base}/a.png`))
    expect(response.status).toBe(400)
    expect((await readError(response)).param).toBe('messages[0].content[17].image_url.url')
    expect(requestedPaths).toEqual(['/a.png'])
  })

  test('counts anew for each attempt', async () => {
    upstream.script(json(503, { error: { code: 503, status: 'UNAVAILABLE' } }), good)
    const response = await ask(MODEL, ...Array.from({ length: 16 }, () => `${base}/b.jpg`))
    expect([response.status, response.headers.get('x-rideau-attempts')]).toEqual([200, '2'])
  })

  test('counts twice among the images of an edit', async () => {
    const before = upstream.requests.length
    const image = { image_url: `${base}/half` }
    const response = await app.call('/openai/v1/images/edits', {
      model: 'gemini/gemini-2.5-flash-image',
      prompt: 'make it green',
      images: [image, image],
    })
    expect(response.status).toBe(400)
    expect((await readError(response)).param).toBe('images[1].image_url')
    expect(upstream.requests.length).toBe(before)
  })
})

describe.each(['0', '1'])('with RIDEAU_ALLOW_PRIVATE_UPSTREAMS=%s', setting => {
  let strict: TestApp
  beforeAll(async () => {
    strict = await openTestApp({ RIDEAU_ALLOW_PRIVATE_UPSTREAMS: setting }, { ...TEST_OVERRIDES, ...FAST })
    await strict.addCredential('gemini', { api_key: 'k' })
  })
  afterAll(() => strict.close())

  const refuse = async (url: string): Promise<string> => {
    const messages = [{ role: 'user', content: [image(url)] }]
    const response = await strict.call('/openai/v1/chat/completions', { model: MODEL, messages })
    const error = await readError(response)
    expect([response.status, error.param]).toEqual([400, 'messages[0].content[0].image_url.url'])
    return error.message
  }

  test('no private address that a caller names is connected to', async () => {
    requestedPaths = []
    for (const url of [
      `${base}/a.png`,
      'https://127.0.0.1/a.png',
      'https://[::1]/a.png',
      'https://10.0.0.1/a.png',
      'https://169.254.169.254/latest/meta-data',
      'https://localhost/a.png',
    ]) {
      await refuse(url)
    }
    expect(requestedPaths).toEqual([])
  })

  test('a private name and an unknown name get the same message', async () => {
    expect(await refuse('https://localhost/a.png')).toBe(await refuse('https://no-such-host.invalid/a.png'))
  })
})
