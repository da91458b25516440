import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { identifyCluster } from '../packages/server/storage/embedded/end-server.ts'
import { isAlive, listServerProcesses } from '../packages/server/storage/embedded/server-processes.ts'
import {
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../packages/server/testing/fakes/scripted-upstream.ts'
import { freePort } from '../packages/server/testing/harness/free-port.ts'
import { type Management, manage, setUp } from './program.ts'
import { hasTerminal, listChildren, openTerminal, type Terminal } from './terminal.ts'

const SETUP_TOKEN = 'a set-up token for tests'
const CTRL_C = '\x03'
const STARTED = 'Control plane  http'

let dataDir: string
let urls: { gateway: string; control: string }
let env: Record<string, string | undefined>
let terminal: Terminal
let provider: ScriptedUpstream
/** The open stream of the provider, which has sent its first event. */
let streaming: Promise<ServerResponse>

const chunk = (delta: object, finishReason: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`

beforeAll(async () => {
  provider = await openScriptedUpstream()
})
afterAll(() => provider.close())

beforeEach(async () => {
  streaming = new Promise(resolve =>
    provider.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ role: 'assistant', content: 'first' }, null), () => resolve(res))
    }),
  )
  dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-stopping-'))
  const [gatewayPort, controlPort] = [await freePort(), await freePort()]
  urls = { gateway: `http://127.0.0.1:${gatewayPort}`, control: `http://127.0.0.1:${controlPort}` }
  env = {
    NODE_ENV: 'development',
    RIDEAU_DATA_DIR: dataDir,
    RIDEAU_GATEWAY_PORT: String(gatewayPort),
    RIDEAU_CONTROL_PORT: String(controlPort),
    RIDEAU_METRICS_PORT: '0',
    RIDEAU_SETUP_TOKEN: SETUP_TOKEN,
  }
})
afterEach(() => {
  terminal.kill()
  rmSync(dataDir, { recursive: true, force: true })
})

const start = (command = 'npm start'): Terminal => {
  terminal = openTerminal(command, env)
  return terminal
}

/** Starts the program in a terminal and a stream of which the caller has the first event. `rest` resolves with what follows. */
async function startWithStream(): Promise<{
  keys: Management
  requestId: string
  rest: () => Promise<string>
}> {
  start()
  await terminal.until(STARTED)
  const keys = {
    ...(await setUp({ controlUrl: urls.control, setupToken: SETUP_TOKEN })),
    controlUrl: urls.control,
  }
  const credential = { provider: 'custom', name: 'c', api_key: 'k', base_url: provider.baseUrl }
  await manage(keys, 'POST', `/v1/environments/${keys.developmentId}/provider-credentials`, credential)
  const response = await fetch(`${urls.gateway}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'custom/m',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let seen = ''
  while (!seen.includes('first')) seen += decoder.decode((await reader.read()).value, { stream: true })
  const rest = async (): Promise<string> => {
    let text = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return text
      text += decoder.decode(value, { stream: true })
    }
  }
  return { keys, requestId: response.headers.get('x-request-id') ?? '', rest }
}

const listServers = (): number[] => listServerProcesses(identifyCluster(realpathSync(dataDir)))

/** The journal must be empty, and no process of the embedded database may be left. */
function expectNothingLeft(): void {
  expect(existsSync(path.join(dataDir, 'pg18'))).toBe(true)
  expect(listServers()).toEqual([])
  expect(readdirSync(path.join(dataDir, 'journal'))).toEqual([])
}

/** The last line that the program itself wrote; npm may write after it. */
function lastLogLine(): string {
  const lines = terminal.output().split(/\r?\n/)
  return lines.findLast(line => /stopp|ended by force/.test(line)) ?? ''
}

describe.runIf(hasTerminal).each([1, 2])('npm start in a terminal, with gateway workers: %i', workers => {
  beforeEach(() => {
    env = { ...env, RIDEAU_WORKERS: String(workers) }
  })

  test.each([
    ['Ctrl-C', (): void => terminal.type(CTRL_C)],
    ['a SIGTERM to the process group', (): void => terminal.signalGroup('SIGTERM')],
    [
      'three Ctrl-C at once',
      (): void => {
        for (const key of [CTRL_C, CTRL_C, CTRL_C]) terminal.type(key)
      },
    ],
  ])('after %s lets a running stream end, ends its database and exits', async (_, stop) => {
    const { rest } = await startWithStream()
    const pid = terminal.findPid('bin/rideau.mjs')
    const running = workers === 1 ? [] : Array.from({ length: workers }, () => 'node')
    expect(listChildren(pid).sort()).toEqual([...running, 'postgres'])
    stop()
    await terminal.until('stopping after the running requests')
    // A worker closes the port a moment after the supervisor's line, and while the stream still runs.
    const connect = () =>
      fetch(`${urls.gateway}/healthz`).then(
        () => 'answered',
        () => 'refused',
      )
    await expect.poll(connect).toBe('refused')
    const res = await streaming
    res.end(`${chunk({ content: 'last' }, 'stop')}data: [DONE]\n\n`)
    const text = await rest()
    expect(text).toContain('last')
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await terminal.ended).toBe(0)
    expect(lastLogLine()).toContain('1 request finished, 0 requests cut')
    expectNothingLeft()
  })

  test('after a SIGHUP to the process group, as of a closed terminal, lets a running stream end and ends its database', async () => {
    const { rest } = await startWithStream()
    const pid = terminal.findPid('bin/rideau.mjs')
    terminal.signalGroup('SIGHUP')
    // npm ends by this signal at once, and the terminal with it.
    await terminal.ended
    const res = await streaming
    res.end(`${chunk({ content: 'last' }, 'stop')}data: [DONE]\n\n`)
    expect((await rest()).trimEnd().endsWith('data: [DONE]')).toBe(true)
    await expect.poll(() => isAlive(pid), { timeout: 60_000, interval: 10 }).toBe(false)
    expectNothingLeft()
  })

  test('after a second Ctrl-C cuts a running stream by its error frame and exits with 1, and its record is kept', async () => {
    const { keys, requestId, rest } = await startWithStream()
    terminal.type(CTRL_C)
    await terminal.until('stopping after the running requests')
    const stoppedAt = performance.now()
    await expect.poll(() => performance.now() - stoppedAt, { timeout: 10_000 }).toBeGreaterThan(1_100)
    terminal.type(CTRL_C)
    const text = await rest()
    expect(text).toContain('stream_interrupted')
    expect(await terminal.ended).toBe(1)
    expect(lastLogLine()).toContain('0 requests finished, 1 request cut')
    expect(listServers()).toEqual([])
    start()
    await terminal.until(STARTED)
    expect(await manage(keys, 'GET', `/v1/logs/${requestId}`)).toMatchObject({
      error_code: 'stream_interrupted',
    })
    terminal.type(CTRL_C)
    expect(await terminal.ended).toBe(0)
    expectNothingLeft()
  })

  test('after Ctrl-C during its first start ends its database and exits', async () => {
    start()
    // A folder of this name exists while the database is created.
    await expect
      .poll(() => readdirSync(dataDir).some(name => name.startsWith('.new-pg18-')), {
        timeout: 60_000,
        interval: 2,
      })
      .toBe(true)
    terminal.type(CTRL_C)
    const code = await terminal.ended
    // The last line tells why, where it is another one.
    expect([code, lastLogLine()]).toEqual([0, expect.stringContaining('stopped: no request was running')])
    expectNothingLeft()
  })

  test('after an error of the start leaves no database running', async () => {
    env = { ...env, RIDEAU_CONTROL_PORT: env.RIDEAU_GATEWAY_PORT }
    start()
    expect(await terminal.ended).toBe(1)
    expectNothingLeft()
  })
})
