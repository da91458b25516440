import { type ChildProcess, execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { GatewayDeps } from '../../server/gateway/deps.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../server/testing/harness/app.ts'
import { chromiumProgram, startChromium } from '../../server/testing/harness/chromium.ts'

// The example of docs/client-auth.md as it is, in a real browser: the page, its server and its identity provider run from a copy
// beside the library as it is built, against the running app, which has another origin.

const repository = path.join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const GUIDE = fs.readFileSync(path.join(repository, 'docs/client-auth.md'), 'utf8')
const PART = GUIDE.slice(GUIDE.indexOf('## From zero'), GUIDE.indexOf('## With a backend'))

let app: TestApp
let deps: GatewayDeps
let home: string
let browser: Browser
let publishableKey: string
let origin: string
const children: ChildProcess[] = []

/** Runs a program of the example and returns the address that it prints. */
async function start(program: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [path.join(home, 'examples/browser', program)], {
    env: { PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    child.once('exit', code => reject(new Error(`${program} ended with ${code}`)))
  })
}

async function manage(method: string, route: string, body: object): Promise<any> {
  const answer = await app.manage(method, route, body)
  if (answer.status >= 300) expect.fail(JSON.stringify(answer.body))
  return answer.body
}

async function openExample(): Promise<void> {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-page-'))
  fs.cpSync(path.join(repository, 'examples/browser'), path.join(home, 'examples/browser'), {
    recursive: true,
  })
  const dist = path.join(home, 'packages/sdk/dist')
  await run(process.execPath, ['tools/build-sdk.mjs', dist], { cwd: repository })
  const identityProviderUrl = await start('identity-provider.mjs', {})
  const calls = readCalls(identityProviderUrl)
  await call(calls, 'federated-auth')
  publishableKey = (await call(calls, 'keys')).key
  origin = await start('server.mjs', {
    RIDEAU_GATEWAY_URL: app.gatewayUrl,
    RIDEAU_PUBLISHABLE_KEY: publishableKey,
    IDENTITY_PROVIDER_URL: identityProviderUrl,
  })
  expect(await call(calls, app.projectId)).toMatchObject({ allowed_origins: [origin] })
}

/** Notes the answer's length each time it grows. */
const WATCH_ANSWER = `
  globalThis.lengths = []
  const output = document.querySelector('output')
  new MutationObserver(() => lengths.push(output.textContent.length)).observe(output, { childList: true })`

interface GuideCall {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** The calls to the control plane by which the guide sets the project up, with the test's ids and addresses. */
function readCalls(identityProviderUrl: string): GuideCall[] {
  const pattern = /curl -X (\w+) "http:\/\/127\.0\.0\.1:8788(\S+)"[^']*'[^']*' \\\n {2}-d '([^']+)'/g
  return [...PART.matchAll(pattern)].map(([, method = '', url = '', body = '']) => ({
    method,
    path: url.replace('$PROJECT_ID', app.projectId).replace('$ENVIRONMENT_ID', app.developmentId),
    body: body.replace('http://127.0.0.1:3001', identityProviderUrl),
  }))
}

/** Makes the call whose path ends so. */
async function call(calls: readonly GuideCall[], end: string): Promise<any> {
  const { method, path: route, body } = calls.find(each => each.path.endsWith(`/${end}`)) ?? expect.fail(end)
  return manage(method, route, JSON.parse(body.replace('http://127.0.0.1:3000', origin)))
}

test("the guide's page is quoted as it is", () => {
  const [quoted = ''] = /(?<=```js\n)[^]*?(?=```)/.exec(PART) ?? []
  expect(quoted).toContain('fromIdentityToken')
  expect(fs.readFileSync(path.join(repository, 'examples/browser/page.js'), 'utf8')).toContain(quoted)
})

describe.skipIf(chromiumProgram === undefined)('in a browser, the page of the guide', () => {
  beforeAll(async () => {
    app = await openTestApp({}, { ...TEST_OVERRIDES, onDeps: made => (deps = made) })
    await openExample()
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    for (const child of children) child.kill()
    fs.rmSync(home, { recursive: true, force: true })
    await app.close()
  })

  let page: Page
  let session: CDPSession
  /** Requests to the gateway, preflights included, as `method path`. */
  let sent: string[]
  beforeEach(async () => {
    page = await (await browser.newContext()).newPage()
    // A test has its own limit.
    page.setDefaultTimeout(0)
    sent = []
    session = await page.context().newCDPSession(page)
    session.on('Network.requestWillBeSent', ({ request }) => {
      if (!request.url.startsWith(app.gatewayUrl)) return
      sent.push(`${request.method} ${request.url.slice(app.gatewayUrl.length)}`)
    })
    await session.send('Network.enable')
  })
  afterEach(() => page.context().close())

  const countOf = (call: string): number => sent.filter(each => each === call).length
  const answer = () => page.getByLabel('Answer')
  const problem = () => page.getByRole('alert')

  async function signIn(user: string, at = origin): Promise<void> {
    await page.goto(at)
    await page.getByLabel('Name').fill(user)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  async function send(message: string): Promise<void> {
    await page.getByLabel('Message').fill(message)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Send', disabled: false }).waitFor()
  }

  /** Sends and returns the answer, which must come. */
  async function ask(message: string): Promise<string> {
    await send(message)
    expect(await problem().textContent()).toBe('')
    return (await answer().textContent()) ?? ''
  }

  const findEndUser = async (id: string): Promise<any> => {
    const { body } = await app.manage('GET', `/v1/environments/${app.developmentId}/end-users?limit=100`)
    return body.data.find((each: any) => each.external_id === id)
  }

  test('gets a token for an identity token and streams a chat from another origin, without a secret', async () => {
    const files: Promise<string>[] = []
    page.on('response', response => {
      if (response.url().startsWith(origin)) files.push(response.text())
    })
    await signIn('alice')
    await page.evaluate(WATCH_ANSWER)
    expect(await ask('Hello from a page without a secret.')).toContain('Hello from a page without a secret.')
    const lengths = await page.evaluate<number[]>('lengths')
    // It grew in parts.
    expect(new Set(lengths.filter(length => length > 0)).size).toBeGreaterThan(1)
    expect(sent.sort()).toEqual(
      ['OPTIONS /v1/client-tokens', 'POST /v1/client-tokens', 'OPTIONS /v1/chat', 'POST /v1/chat'].sort(),
    )
    expect((await findEndUser('alice')).external_id).toBe('alice')
    const text = (await Promise.all(files)).join('')
    expect(text).toContain(publishableKey)
    expect(text).not.toContain(app.secretKey)
    expect(text).not.toMatch(/rd_(sk|mk)_(dev|prod)?_?\w{8}/)
  })

  test('keeps its token, and gets another one before it ends', async () => {
    await page.clock.install()
    await signIn('bob')
    await ask('one')
    await ask('two')
    expect(countOf('POST /v1/client-tokens')).toBe(1)
    await page.clock.fastForward('14:30')
    expect(await ask('three')).toContain('three')
    expect(countOf('POST /v1/client-tokens')).toBe(2)
  })

  test('gets another token if the gateway says that its token has expired', async () => {
    await signIn('carol')
    await ask('one')
    const { now } = deps
    try {
      Object.assign(deps, { now: () => now() + 16 * 60_000 })
      expect(await ask('two')).toContain('two')
    } finally {
      Object.assign(deps, { now })
    }
    expect([countOf('POST /v1/client-tokens'), countOf('POST /v1/chat')]).toEqual([2, 3])
  })

  test('shows the error of a blocked end user by its code', async () => {
    await signIn('mallory')
    await ask('one')
    const { id } = await findEndUser('mallory')
    await manage('POST', `/v1/end-users/${id}/block`, {})
    await send('two')
    expect(await problem().textContent()).toBe('You were blocked (end_user_blocked).')
    // Neither does a new token help.
    await signIn('mallory')
    await send('three')
    expect(await problem().textContent()).toBe('You were blocked (end_user_blocked).')
    await manage('POST', `/v1/end-users/${id}/unblock`, {})
    expect(await ask('four')).toContain('four')
  })

  test('is refused from an origin that the project does not list', async () => {
    await signIn('alice', origin.replace('127.0.0.1', 'localhost'))
    await send('Hello')
    expect(await problem().textContent()).toContain('origin_not_allowed')
    expect(await answer().textContent()).toBe('')
    expect(countOf('POST /v1/chat')).toBe(0)
  })

  test('reads every rate-limit header that is sent', async () => {
    const limits = `/v1/environments/${app.developmentId}/limits`
    const common = { scope: 'default_end_user', window_seconds: 60 }
    await manage('POST', limits, { ...common, metric: 'requests', limit: 50 })
    await manage('POST', limits, { ...common, metric: 'tokens', limit: 1_000_000 })
    await signIn('dave')
    await ask('Hello')
    expect(await page.getByRole('note').textContent()).toMatch(/^49 requests left\. 9\d{5} tokens left\. $/)
    const { token } = (await (
      await app.call('/v1/client-tokens', { end_user: { id: 'dave' }, scopes: ['ai.chat'] })
    ).json()) as { token: string }
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
    const all = [...(await app.call('/v1/chat', body, { key: token })).headers.keys()]
    const limited = all.filter(name => /ratelimit/.test(name))
    expect(limited).toHaveLength(8)
    const readable = await callFromPage({ token, body })
    expect(readable).toMatchObject({ status: 200, names: expect.arrayContaining(limited) })
    expect(readable.names).toContain('x-request-id')
  })

  test('may send any header, and gets an error for one that names an end user', async () => {
    await signIn('alice')
    await ask('Hello')
    const minted = await app.call('/v1/client-tokens', { end_user: { id: 'alice' }, scopes: ['ai.chat'] })
    const { token } = (await minted.json()) as { token: string }
    const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }
    expect((await callFromPage({ token, body, headers: { 'x-trace': '1' } })).status).toBe(200)
    const named = await callFromPage({ token, body, headers: { 'x-rideau-end-user': 'bob' } })
    expect([named.status, named.code]).toEqual([400, 'invalid_request'])
    // What is not exposed stays hidden from the page.
    expect(named.names).not.toContain('vary')
  })

  /** Calls the gateway by the page's own `fetch`. Returns the names of the headers that the page may read. */
  async function callFromPage(call: {
    token: string
    body: object
    headers?: Record<string, string>
  }): Promise<{ status: number; code: string | undefined; names: string[] }> {
    return page.evaluate(
      async ({ url, token, body, headers }) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
        const { error } = (await response.json()) as { error?: { code: string } }
        return { status: response.status, code: error?.code, names: [...response.headers.keys()] }
      },
      { url: `${app.gatewayUrl}/v1/chat`, ...call },
    )
  }
})
