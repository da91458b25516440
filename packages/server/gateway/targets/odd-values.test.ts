import { FormatRegistry } from '@rideau/llm/formats/format-registry'
import { FORMATS } from '@rideau/llm/formats/index'
import type { Mount } from '@rideau/llm/formats/shared/reading/mount'
import { RequestError } from '@rideau/llm/formats/shared/reading/request-error'
import type { ChatServer } from '@rideau/llm/formats/shared/server-format'
import { scanJson } from '@rideau/llm/json/json-scan'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import { findProvider } from '@rideau/llm/providers/index'
import type { Target } from '@rideau/llm/upstream/target'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../core/fault.ts'
import type { MeterSet } from '../../core/limits/list-meters.ts'
import { systemRandom } from '../../core/random.ts'
import type { Caller, Environment } from '../../core/tenancy/tenancy.ts'
import { listOddBodies, RICH_REQUESTS, type RichRequest } from '../../testing/harness/rich-requests.ts'
import { countMaxInput } from '../billing/count-input.ts'
import { Latencies } from './latencies.ts'
import { selectChatTargets } from './select-chat-targets.ts'

/** A value of the wrong form anywhere in a request is refused as the caller's mistake, or sent on; it is never a bug of ours. */

/** A model of each format, at providers that differ. */
const MODELS = [
  'openai/gpt-4o-mini',
  'openai/gpt-5.4',
  'mistral/mistral-small-latest',
  'deepseek/deepseek-chat',
  'openrouter/google/gemini-2.5-flash',
  'anthropic/claude-sonnet-4-6',
  'gemini/gemini-3-flash-preview',
  'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  'bedrock/us.amazon.nova-2-lite-v1:0',
  'cohere/command-a-03-2025',
  'ollama/qwen3:8b',
]
const PROVIDERS = [...new Set(MODELS.map(model => model.slice(0, model.indexOf('/'))))]

const formats = new FormatRegistry(FORMATS)
const deps = { formats, random: systemRandom, latencies: new Latencies(() => 0) }
const caller: Caller = {
  kind: 'secret',
  keyId: 'k',
  originalKeyId: 'k',
  endUser: null,
  scopes: [],
  allowedModels: null,
  allowedEndpoints: null,
  maxRequestCostNanoUsd: null,
}
/** With every capability, and with `drop`, so that nothing is refused for want of support and every value reaches the encoding. */
const ABLE: CatalogModel = {
  id: 'able',
  display_name: 'Able',
  context_window: null,
  max_output_tokens: null,
  capabilities: ['chat', 'tools', 'response_format', 'vision', 'reasoning'],
  pricing: null,
}
const environment = {
  name: 'development',
  allowedModels: null,
  unsupportedParams: 'drop',
  allowClientPassthrough: true,
  credentials: PROVIDERS.map(provider => ({ id: provider, provider, discovered: new Set() })),
  aliases: new Map(),
  customModels: new Map(MODELS.map(model => [model, ABLE])),
} as unknown as Environment
const limits = { hasCostMeter: false, plan: undefined } as unknown as MeterSet

function findRoute({ format }: RichRequest): { mount: Mount; server: ChatServer } {
  for (const { mount, chat } of formats.served) {
    const server = chat.find(route => route.server.id === format)?.server
    if (server !== undefined) return { mount, server }
  }
  throw new Error(`no route serves ${format}`)
}

/** Encodes a body for the model. Returns `sent`, `refused`, or the exception that is no refusal. */
function encode(request: RichRequest, body: JsonObject, name: string): string {
  const { mount, server } = findRoute(request)
  const bytes = Buffer.from(JSON.stringify(body))
  const scan = scanJson(bytes)
  if (!scan.ok) throw new Error(scan.reason)
  const value = scan.value as JsonObject
  const source = { format: server.id, bytes, value, fields: scan.fields }
  try {
    const call = server.parse(value, { source, pathModel: name, isEndUser: false })
    const read = { ...source, format: call.shape ?? source.format }
    const selection = selectChatTargets(call, read, { caller, environment, route: { mount } }, limits, deps)
    for (const { format, provider, model, request: sent, dropped } of selection.targets) {
      countMaxInput(sent)
      const target: Target = { provider, model, baseUrl: 'https://a.example/v1', apiKey: 'k' }
      format.encodeRequest(sent, target, read, dropped)
    }
    return 'sent'
  } catch (error) {
    if (error instanceof RequestError || error instanceof Fault) return 'refused'
    return String((error as Error).stack)
  }
}

describe.each(RICH_REQUESTS)('$name', request => {
  const names = request.format === 'openai-completions' ? MODELS.filter(takesPrompts) : MODELS
  test.each(names)('an odd value in any field is refused or sent, to %s', name => {
    const inPath = 'contents' in request.body || 'toolConfig' in request.body
    const whole = inPath ? request.body : { model: name, ...request.body }
    expect(encode(request, whole, name)).toBe('sent')
    const bugs: string[] = []
    for (const { path, body } of listOddBodies(whole)) {
      const outcome = encode(request, body, name)
      if (outcome !== 'sent' && outcome !== 'refused') bugs.push(`${path}: ${outcome}`)
    }
    expect(bugs).toEqual([])
  })
})

function takesPrompts(model: string): boolean {
  return findProvider(model.slice(0, model.indexOf('/')))?.format === 'openai-chat'
}
