import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

const GUIDE = readFileSync(new URL('../../../../docs/client-auth.md', import.meta.url), 'utf8')

/** The first example in a language of the guide's part about backends. */
function findExample(language: string): string {
  const part = GUIDE.slice(GUIDE.indexOf('## With a backend'))
  const text = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``).exec(part)?.[1]
  if (text === undefined) throw new Error(`the guide has no example in ${language}`)
  return text
}

/** What a browser adds to a page's script: addresses relative to the page, its origin, and the page's elements. */
const BROWSER = `
const origin = process.env.PAGE_ORIGIN
const send = globalThis.fetch
globalThis.fetch = (url, init = {}) => {
  const target = new URL(url, origin)
  const headers = new Headers(init.headers)
  if (target.origin !== origin) headers.set('origin', origin)
  return send(target, { ...init, headers })
}
globalThis.document = { querySelector: () => ({ append: text => process.stdout.write(text) }) }
`

const folder = mkdtempSync(path.join(tmpdir(), 'rideau-guide-'))
let app: TestApp
let server: ChildProcess
let origin: string
beforeAll(async () => {
  app = await openTestApp()
  writeFileSync(path.join(folder, 'server.js'), findExample('js'))
  writeFileSync(path.join(folder, 'page.html'), findExample('html'))
  server = spawn(process.execPath, ['server.js'], {
    cwd: folder,
    env: { RIDEAU_GATEWAY_URL: app.gatewayUrl, RIDEAU_SECRET_KEY: app.secretKey, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (server.stdout === null) throw new Error('the example has no output')
  origin = await new Promise(resolve => {
    createInterface(server.stdout as NodeJS.ReadableStream).once('line', resolve)
  })
})
afterAll(async () => {
  server.kill()
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs the page's script as a browser would, and returns what it writes into the page. */
async function openPage(): Promise<string> {
  const page = await (await fetch(origin)).text()
  expect(page).not.toContain(app.secretKey)
  expect(page).not.toMatch(/rd_(sk|mk)_/)
  const script = /<script type="module">([\s\S]*)<\/script>/.exec(page)?.[1]
  writeFileSync(path.join(folder, 'script.mjs'), BROWSER + script)
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['script.mjs'], {
    cwd: folder,
    env: { PAGE_ORIGIN: origin },
  })
  return stdout
}

test("the guide's page streams a chat without a secret, once the project allows its origin", async () => {
  await expect(openPage()).rejects.toThrow(/allowed_origins/)
  const change = { allowed_origins: [origin] }
  expect((await app.manage('PATCH', `/v1/projects/${app.projectId}`, change)).status).toBe(200)
  expect(await openPage()).toContain('Hello from a page without a secret.')
})

test("the guide's settings are accepted", async () => {
  const [, devices = ''] = /device-auth`:\n\n```json\n([\s\S]*?)\n```/.exec(GUIDE) ?? []
  const body = JSON.parse(devices.replace('<SHA-256 of the signing certificate>', 'ab'.repeat(32)))
  expect((await app.manage('PUT', `/v1/projects/${app.projectId}/device-auth`, body)).status).toBe(200)
})
