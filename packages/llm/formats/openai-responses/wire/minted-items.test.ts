import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { openAiResponses } from '../client/client.ts'
import { encodeReply } from '../server/encode-events.ts'
import { parseRequest } from '../server/parse-request.ts'
import { isMintedId, packCall, unpackCall } from './minted-items.ts'

const RESPONSE = 'resp_0190f5f8-0000-7000-8000-000000000000'
const USAGE = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
const CALL = { id: 'call_1', type: 'function' as const, function: { name: 'f', arguments: '{"a":1}' } }
const context = { isEndUser: false, source: toSourceBody('openai-responses', {}) }
const parse = (input: JsonObject[]) => parseRequest({ model: 'm', input }, context)

/** The items of an answer with reasoning, a text and a call, to a request that says this of `store`. */
function answer(store?: boolean): JsonObject[] {
  const { repeated } = parseRequest(
    { model: 'm', input: 'x', ...(store === undefined ? {} : { store }) },
    context,
  )
  if (repeated === undefined) throw new Error('nothing is repeated')
  const head = { id: RESPONSE, created: 0, model: 'p/m', ...repeated }
  const message = { role: 'assistant' as const, content: 'Hm.', reasoning: 'so', tool_calls: [CALL] }
  return encodeReply(head, message, 'tool_calls', USAGE).output as JsonObject[]
}

const refer = (items: JsonObject[]): JsonObject[] =>
  items.map(({ id }) => ({ type: 'item_reference', id: id ?? null }))
const CALL_ITEM = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' }
const user = { role: 'user', content: 'hi' }
const result = { type: 'function_call_output', call_id: 'call_1', output: 'ok' }

describe('references to items that the gateway made', () => {
  test('are followed to calls, and left out for the rest', () => {
    const { request, findings } = parse([user, ...refer(answer()), result])
    expect(findings.storedStatePaths).toEqual([])
    expect(request.messages).toEqual([
      user,
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
    ])
  })

  test('become the calls themselves for a provider of the format, which does not know the items', () => {
    const provider = findProvider('openai')
    if (provider === undefined) throw new Error('no provider')
    const source = toSourceBody('openai-responses', { model: 'm', input: [user, ...refer(answer()), result] })
    const { request } = parseRequest(source.value, context)
    const target = { provider, model: 'gpt-5.4', baseUrl: 'https://a.example/v1', apiKey: 'k' }
    const { body } = openAiResponses.encodeRequest(request, target, source)
    const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":1}' }
    expect(JSON.parse(body.toString()).input).toEqual([user, call, result])
  })

  test('reports references to other items as state at a provider', () => {
    expect(parse([user, { type: 'item_reference', id: 'fc_68a1' }]).findings.storedStatePaths).toEqual([
      'input[1]',
    ])
  })

  test('reports references to reasoning at a provider separately, since no other model could read it', () => {
    const { request, findings } = parse([user, { type: 'item_reference', id: 'rs_68a1' }, CALL_ITEM, result])
    expect(findings).toMatchObject({ storedStatePaths: [], storedReasoning: ['input[1]'] })
    expect(request.messages).toEqual([
      user,
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
    ])
  })
})

test('ids carry nothing where the caller stores nothing', () => {
  for (const { id } of answer(false)) expect(String(id)).not.toContain('__rd1__')
  for (const { id } of answer()) expect(isMintedId(String(id))).toBe(true)
})

test.each([
  '',
  'fc_x',
  `${'fc_0190f5f8-0000-7000-8000-000000000000'}_1__rd1__!!`,
  'fc_0190f5f8-0000-7000-8000-000000000000_1',
])('the id %j carries no call', id => {
  expect(unpackCall(id)).toBeUndefined()
})

test('an id does not carry a call whose own id carries much reasoning', () => {
  const id = 'fc_0190b1f2-0000-7000-8000-000000000018_0'
  const call = { callId: 'c'.repeat(20_000), name: 'f', arguments: '{}' }
  expect(packCall(id, call)).toBe(id)
  expect(unpackCall(packCall(id, { ...call, callId: 'c' }))).toEqual({ ...call, callId: 'c' })
})
