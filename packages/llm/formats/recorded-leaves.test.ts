import { describe, expect, test } from 'vitest'
import { type Json, type JsonObject, toObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import type { SourceBody } from '../request/source-body.ts'
import { type ClientRequest, hasClientRequests, listClientRequests } from '../testing/client-requests.ts'
import { toSourceBody } from '../testing/recorded-requests.ts'
import { toWireModel } from '../upstream/openai-address.ts'
import { findForbidden } from '../upstream/outgoing-body.ts'
import type { Sender } from '../upstream/outgoing-rules.ts'
import type { Target } from '../upstream/target.ts'
import { FORMATS } from './index.ts'
import { isById } from './openai-responses/wire/items-by-id.ts'
import { RequestError } from './shared/reading/request-error.ts'
import type { ParsedChat } from './shared/requests/parsed-chat.ts'

/** What real clients send still leaves: the last check refuses nothing that the checks before it let pass. */

/** A model of each format, at providers that differ. */
const TARGETS: readonly (readonly [provider: string, model: string, format: string])[] = [
  ['openai', 'gpt-4o-mini', 'openai-chat'],
  ['mistral', 'mistral-small-latest', 'openai-chat'],
  ['deepseek', 'deepseek-chat', 'openai-chat'],
  ['alibaba', 'qwen-plus', 'openai-chat'],
  ['openrouter', 'google/gemini-2.5-flash', 'openai-chat'],
  ['openai', 'gpt-5.4', 'openai-responses'],
  ['anthropic', 'claude-sonnet-4-6', 'anthropic-messages'],
  ['anthropic', 'claude-3-7-sonnet-latest', 'anthropic-messages'],
  ['gemini', 'gemini-3-flash-preview', 'gemini-content'],
  ['bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock-converse'],
  ['bedrock', 'us.amazon.nova-2-lite-v1:0', 'bedrock-converse'],
  ['cohere', 'command-a-reasoning-08-2025', 'cohere-v2'],
  ['ollama', 'qwen3:8b', 'ollama-chat'],
]

/** Paths within messages, which a client token may not send where the gateway does not read them (check-findings.ts). */
const IN_MESSAGES = /^(?:input|contents|messages|system)\[/

function isReasoningById(item: Json): boolean {
  return toObject(item)?.type === 'reasoning' && isById(item)
}

function isRefusedBefore({ findings }: ParsedChat, { input }: JsonObject, isEndUser: boolean): boolean {
  const { passedOn, stored, storedStatePaths, storedReasoning = [], nativeOnly } = findings
  if (!isEndUser) return false
  // Of the checks of this list only the last one knows it: clients that let answers be stored send no more of them back.
  if (Array.isArray(input) && input.some(isReasoningById)) return true
  const isUnread = nativeOnly.some(path => IN_MESSAGES.test(path))
  return (
    isUnread ||
    passedOn !== undefined ||
    stored !== undefined ||
    storedStatePaths.length + storedReasoning.length > 0
  )
}

interface ReceivedCall {
  readonly call: ParsedChat
  readonly source: SourceBody
}

/** undefined: a check before the last one refuses the request. */
function receive({ server, pathModel, body }: ClientRequest, isEndUser: boolean): ReceivedCall | undefined {
  const source = toSourceBody(server.id, body)
  try {
    const call = server.parse(source.value, { source, pathModel, isEndUser })
    if (isRefusedBefore(call, body, isEndUser)) return undefined
    return { call, source: { ...source, format: call.shape ?? source.format } }
  } catch (error) {
    if (error instanceof RequestError) return undefined
    throw error
  }
}

/** The path of what the last check refuses. */
function findStop(
  { call, source }: ReceivedCall,
  to: (typeof TARGETS)[number],
  sender: Sender,
): string | undefined {
  const [providerId, model, formatId] = to
  const { findings, request } = call
  const provider = findProvider(providerId) as Provider
  const format = FORMATS.find(({ id }) => id === formatId)?.client
  if (format === undefined) throw new Error(`no format ${formatId}`)
  const unsupported = format.listUnsupportedParams(request, provider, model, source)
  const foreign = format.id === source.format ? [] : findings.nativeOnly
  const withheld = sender === 'key' ? [] : ['store']
  const run = findings.hostedTools.map(({ path }) => path)
  const dropped = [
    ...findings.hosted,
    ...run,
    ...findings.unknownFields,
    ...foreign,
    ...unsupported,
    ...withheld,
  ]
  const target: Target = { provider, model, baseUrl: 'https://a.example/v1', apiKey: 'k' }
  const { content } = format.encodeRequest(request, target, source, dropped)
  if (content === undefined) throw new Error('a body states no fields')
  return findForbidden(content, {
    sender,
    model: toWireModel(target),
    isStream: request.stream,
    choices: findings.choices,
    maxOutputTokens: request.maxOutputTokens,
    addresses: sender === 'key' ? 'any' : 'public',
  })
}

const REQUESTS = listClientRequests()

if (!hasClientRequests) console.log('skipped: the requests of ../shared/wire are not there')

describe.skipIf(!hasClientRequests)(`${REQUESTS.length} recorded requests`, () => {
  test.each<Sender>(['key', 'end_user'])(
    'pass the last check to every format where the checks before it let them: %s',
    sender => {
      const stopped: string[] = []
      let passed = 0
      for (const request of REQUESTS) {
        const received = receive(request, sender !== 'key')
        if (received === undefined) continue
        for (const target of TARGETS) {
          const stop = findStop(received, target, sender)
          if (stop === undefined) passed++
          else stopped.push(`${stop} of ${request.server.id} to ${target[2]}: ${request.name}`)
        }
      }
      console.log(`${sender}: ${passed} bodies pass`)
      expect(stopped).toEqual([])
      expect(passed).toBeGreaterThan(REQUESTS.length)
    },
  )
})
