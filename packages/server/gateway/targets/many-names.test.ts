import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { FormatId } from '@rideau/llm/request/format-id'
import { measureMs } from '@rideau/llm/testing/measure-ms'
import { expect, test } from 'vitest'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { systemRandom } from '../../core/random.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import type { ChatSelection } from './chat-selection.ts'
import { Latencies } from './latencies.ts'
import { selectChatTargets } from './select-chat-targets.ts'

/** What of a body with as many names as one may have is left out is found for 20 targets of an alias in one tick. */

const TARGETS = 20
const MODELS = [
  'openai/gpt-4o-mini',
  'anthropic/claude-sonnet-4-6',
  'gemini/gemini-3-flash-preview',
  'bedrock/us.amazon.nova-2-lite-v1:0',
  'cohere/command-a-03-2025',
  'ollama/qwen3:8b',
]
const PROVIDERS = MODELS.map(model => model.slice(0, model.indexOf('/')))

const formats = new FormatRegistry(FORMATS)
const deps = { formats, random: systemRandom, latencies: new Latencies(() => 0) }
const limits = { hasCostMeter: false, plan: undefined } as unknown as MeterSet
const caller = { kind: 'secret', keyId: 'k', originalKeyId: 'k', endUser: null, scopes: [] }
const model: CatalogModel = {
  id: 'able',
  display_name: 'Able',
  context_window: 1_000_000,
  max_output_tokens: 8_000,
  capabilities: ['chat', 'tools', 'response_format', 'vision', 'reasoning'],
  pricing: { input: 1, output: 1 },
}

function toEnvironment(name: string, unsupportedParams: 'refuse' | 'drop'): Environment {
  const target = { model: name, weight: null, timeoutMs: null, maxRetries: null }
  const alias = { name: 'all', strategy: 'priority', targets: Array(TARGETS).fill(target) }
  return {
    name: 'development',
    allowedModels: null,
    unsupportedParams,
    credentials: PROVIDERS.map(provider => ({ id: provider, provider, discovered: new Set() })),
    aliases: new Map([['all', alias]]),
    customModels: new Map(MODELS.map(each => [each, model])),
  } as unknown as Environment
}

function findRoute(format: FormatId): { mount: Mount; server: ChatServer } {
  for (const { mount, chat } of formats.served) {
    const server = chat.find(route => route.server.id === format)?.server
    if (server !== undefined) return { mount, server }
  }
  throw new Error(`no route serves ${format}`)
}

/** Returns a function that selects the targets of a body, all of which are the same model. */
function prepare(format: FormatId, body: object, maxCost: number | null = null): Select {
  const { mount, server } = findRoute(format)
  const value = body as JsonObject
  const source = { format: server.id, bytes: Buffer.alloc(0), value, fields: new Map() }
  const parsed = server.parse(value, { source, pathModel: 'all', isEndUser: false })
  const rights = { allowedModels: null, allowedEndpoints: null, maxRequestCostNanoUsd: maxCost }
  const asked = { ...caller, ...rights } as unknown as Caller
  return (name, setting = 'drop') =>
    selectChatTargets(
      parsed,
      source,
      { caller: asked, environment: toEnvironment(name, setting), route: { mount } },
      limits,
      deps,
    )
}

type Select = (model: string, setting?: 'refuse' | 'drop') => ChatSelection

const named = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]))
const kinds = (count: number): object[] => Array.from({ length: count }, (_, at) => ({ type: `kind${at}` }))
const chat = (content: unknown): object => ({ model: 'all', messages: [{ role: 'user', content }] })

test.each<[string, FormatId, () => object]>([
  ['parts of a chat', 'openai-chat', () => chat(kinds(21_000))],
  ['items', 'openai-responses', () => ({ model: 'all', input: kinds(21_000) })],
  ['blocks', 'anthropic-messages', () => ({ max_tokens: 5, ...chat(kinds(21_000)) })],
  // Of these two a request may have 1,024.
  ['options', 'ollama-chat', () => ({ ...chat('x'), options: named(1_024) })],
  [
    'settings',
    'gemini-content',
    () => ({ contents: [{ parts: [{ text: 'x' }] }], generationConfig: named(1_000) }),
  ],
  [
    'fields for a model',
    'bedrock-converse',
    () => ({
      messages: [{ role: 'user', content: [{ text: 'x' }] }],
      additionalModelRequestFields: named(60_000),
    }),
  ],
])('%s of unknown names are listed for all targets at once', (_, format, make) => {
  const body = make()
  for (const name of MODELS) {
    const select = prepare(format, body)
    const usedMs = measureMs(() => select(name))
    // For each target anew they took up to 120 ms, and 2,000 at Bedrock.
    expect(usedMs).toBeLessThan(60)
  }
})

test('names of a body are listed at once for a key with a bound on costs', () => {
  const fields = { additionalModelRequestFields: named(60_000) }
  const body = { messages: [{ role: 'user', content: [{ text: 'x' }] }], ...fields }
  for (const name of MODELS) {
    const select = prepare('bedrock-converse', body, 1e12)
    const usedMs = measureMs(() => select(name))
    expect(usedMs).toBeLessThan(100)
  }
})

test('what stands behind many hints is refused by its name, and so are the first of many names', () => {
  const hints = Object.fromEntries(
    ['generationConfig', 'options', 'inferenceConfig', 'text', 'output_config'].flatMap(at =>
      ['seed', 'top_k', 'labels', 'think', 'effort', 'verbosity', 'truncation'].map(name => [
        `${at}.${name}`,
        1,
      ]),
    ),
  )
  const refused = (more: object): unknown => {
    const select = prepare('openai-chat', { ...chat('x'), ...more })
    try {
      return select('cohere/command-a-03-2025', 'refuse')
    } catch (error) {
      return (error as { param?: string }).param
    }
  }
  expect(refused(hints)).toMatchObject({ alias: { name: 'all' } })
  expect(refused({ ...hints, behind: 1 })).toBe('behind')
  expect(refused({ ...hints, ...named(900) })).toBe('n0')
})
