import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectShort, type LoopMonitor, openLoopMonitor } from './loop-monitor.ts'
import {
  addProvider,
  type Keys,
  manage,
  openProgramHome,
  type Program,
  type ProgramHome,
  setUp,
} from './program.ts'

/** A key whose requests have a bound on costs, and a budget: the tokens of a long request are estimated before it is sent. */

const MiB = 1024 * 1024
const TARGETS = Array.from({ length: 8 }, (_, at) => `custom/m${at}`)
/** Texts of the longest request for embeddings. */
const INPUTS = 2_048
const PATH = '/openai/v1/chat/completions'

let home: ProgramHome
let program: Program
let monitor: LoopMonitor
let upstream: Server
let boundKey: string

beforeAll(async () => {
  home = await openProgramHome()
  monitor = await openLoopMonitor()
  program = await home.start(monitor.env)
  const keys = await setUp(program)
  upstream = createServer((req, res) => {
    req.resume().on('end', () => {
      const message = { role: 'assistant', content: 'hi' }
      const data = Array.from({ length: INPUTS }, (_, index) => ({ index, embedding: [1] }))
      const results = [{ index: 0, relevance_score: 1 }]
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify({ id: 'a', choices, data, results }))
    })
  })
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  await addProvider(program, keys, 'custom', `http://127.0.0.1:${port}/v1`)
  boundKey = await setBounds(keys)
  for (let at = 0; at < 50; at++) await call('hi')
})

afterAll(async () => {
  await program.stop()
  home.remove()
  upstream.closeAllConnections()
  upstream.close()
})

/** Makes an alias of eight priced models, a budget, and a key with a bound. Returns the key. */
async function setBounds({ managementKey, developmentId, projectId }: Keys): Promise<string> {
  const create = (route: string, body: object): Promise<any> =>
    manage({ controlUrl: program.controlUrl, managementKey }, 'POST', route, body)
  const environment = `/v1/environments/${developmentId}`
  const pricing = { input_usd_per_mtok: 0.01, output_usd_per_mtok: 0.01 }
  const add = (model: string, capability: string): Promise<unknown> =>
    create(`${environment}/custom-models`, {
      model,
      capabilities: [capability],
      context_window: 1_000_000,
      pricing,
    })
  for (const model of TARGETS) await add(model, 'chat')
  await add('custom/embed', 'embeddings')
  await add('custom/rerank', 'rerank')
  const targets = TARGETS.map(model => ({ model }))
  await create(`${environment}/model-aliases`, { alias: 'all', strategy: 'priority', targets })
  await create(`/v1/projects/${projectId}/budgets`, { limit_usd: 1_000, window: 'month' })
  const restrictions = { max_request_cost_usd: 10 }
  const { key } = await create(`${environment}/keys`, { kind: 'secret', name: 'bound', restrictions })
  return key
}

async function post(path: string, body: object): Promise<number> {
  const response = await fetch(program.gatewayUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${boundKey}` },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return response.status
}

async function call(content: string | object[]): Promise<void> {
  const body = { model: 'all', max_tokens: 9, messages: [{ role: 'user', content }] }
  expect(await post(PATH, body)).toBe(200)
}

test.each<[string, () => string | object[]]>([
  ['one text', () => 'The fox. '.repeat((31 * MiB) / 9)],
  ['one text of two-byte characters', () => `人${'The fox. '.repeat((31 * MiB) / 9)}`],
  [
    '12,000 texts',
    () => Array.from({ length: 12_000 }, () => ({ type: 'text', text: 'The fox. '.repeat(280) })),
  ],
])('a request of 31 MiB to eight targets holds the event loop shortly: %s', async (_, make) => {
  const content = make()
  await expectShort(monitor, () => call(content))
})

// Each text is short. Counted at once, those of four requests took 140 to 190 ms of one tick.
test.each<[string, string, () => object]>([
  ['documents', '/v1/rerank', () => ({ model: 'custom/rerank', query: 'fox', documents: texts(10_000) })],
  ['inputs', '/v1/embeddings', () => ({ model: 'custom/embed', input: texts(INPUTS) })],
])('four requests of 9.5 MiB hold the event loop shortly: %s', async (_, path, make) => {
  const body = make()
  await expectShort(monitor, async () => {
    const statuses = await Promise.all(Array.from({ length: 4 }, () => post(path, body)))
    expect(statuses).toEqual([200, 200, 200, 200])
  })
})

function texts(length: number): string[] {
  return Array.from({ length }, () => 'a b{1'.repeat((9.5 * MiB) / 5 / length))
}
