import fs from 'node:fs'
import { request } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ControlPlane, openControlPlane } from '../../testing/harness/control-plane.ts'
import { loadFiles } from './load-files.ts'

const INDEX = '<!doctype html><title>Rideau</title>'
const SCRIPT = 'console.log("a page")\n'.repeat(40)

let dir: string
let plane: ControlPlane
beforeAll(async () => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-pages-'))
  fs.mkdirSync(path.join(dir, 'assets'))
  fs.writeFileSync(path.join(dir, 'index.html'), INDEX)
  fs.writeFileSync(path.join(dir, 'assets/main-1a2b.js'), SCRIPT)
  fs.writeFileSync(path.join(dir, 'assets/main-1a2b.js.gz'), gzipSync(SCRIPT))
  plane = await openControlPlane({ dashboardDir: dir, gatewayUrl: () => 'http://gateway.example:8787' })
})
afterAll(async () => {
  await plane.close()
  fs.rmSync(dir, { recursive: true, force: true })
})

/** Sends the head as it is, and returns the answer's, with the bytes of the body as they were sent. */
function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: plane.port, path: url, method, headers }, answer => {
        const chunks: Buffer[] = []
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        )
      })
      sent.on('error', reject)
      sent.end()
    },
  )
}

describe('the pages', () => {
  test.each(['/', '/setup', '/sign-in', '/o/acme/chat/production/logs?status=500', '/reset-password'])(
    'GET %s is the document, which a browser asks for again',
    async url => {
      const { status, headers, body } = await get(url)
      expect([status, body.toString()]).toEqual([200, INDEX])
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      const again = await get(url, { 'if-none-match': String(headers.etag) })
      expect([again.status, again.body.length]).toEqual([304, 0])
    },
  )

  test('the policy allows no inline script or style, and no other host than the gateway', async () => {
    const { headers } = await get('/')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
        "connect-src 'self' http://gateway.example:8787; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
  })

  test.each(['POST', 'HEAD', 'DELETE'])('%s of a page is 404', async method => {
    expect((await get('/setup', {}, method)).status).toBe(404)
  })

  test.each([
    '/v1',
    '/v1/nothing',
    '/v2/orgs',
    '/assets',
    '/assets/',
    '/assets/other.js',
    '/nothing',
    '/o',
    '/index.html.gz',
  ])('GET %s stays 404 route_not_found', async url => {
    const { status, body } = await get(url)
    expect([status, JSON.parse(body.toString()).error.code]).toEqual([404, 'route_not_found'])
  })

  test.each([
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%2findex.html',
    '/%2e%2e/etc/passwd',
  ])('GET %s names no file outside of the list', async url => {
    expect((await get(url)).status).toBe(404)
  })

  test('a browser that used another name of this machine is sent to the base URL', async () => {
    const moved = await get('/setup?a=b', { host: `localhost:${plane.port}` })
    expect([moved.status, moved.headers.location]).toEqual([302, `${plane.url}/setup?a=b`])
    for (const host of [`evil.example:${plane.port}`, 'localhost:1', '']) {
      expect((await get('/setup', { host })).status).not.toBe(302)
    }
  })
})

describe('the assets', () => {
  test('are kept for a year, in the encoding that the browser takes', async () => {
    const plain = await get('/assets/main-1a2b.js')
    expect([plain.status, plain.body.toString()]).toEqual([200, SCRIPT])
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    })
    const small = await get('/assets/main-1a2b.js', { 'accept-encoding': 'gzip, deflate, br' })
    expect(small.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(small.body).toString()).toBe(SCRIPT)
    expect(small.headers.etag).not.toBe(plain.headers.etag)
  })
})

test('a folder with a file of an unknown type stops the start', () => {
  const other = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-pages-'))
  fs.writeFileSync(path.join(other, 'notes.exe'), '')
  expect(() => loadFiles(other)).toThrow('the dashboard has a file of an unknown type: notes.exe')
  fs.rmSync(other, { recursive: true })
})
