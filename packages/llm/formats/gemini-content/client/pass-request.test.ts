import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import { vertex } from '../../../providers/vertex.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { parseRequest } from '../server/parse-request.ts'
import { encodeRequest } from './encode-request.ts'

const CONTENTS = [{ parts: [{ text: 'x' }] }]
const parse = (body: JsonObject): ParsedChat => {
  const source = toSourceBody('gemini-content', body)
  return parseRequest(body, { source, pathModel: 'm', isEndUser: false }, false)
}

describe('a body that passes through', () => {
  const target: Target = { provider: custom, model: 'm', baseUrl: 'https://x/v1', apiKey: '' }
  const send = (body: JsonObject, fields: object, dropped: readonly string[] = []): JsonObject => {
    const source = toSourceBody('gemini-content', body)
    const { request } = parse(body)
    return JSON.parse(encodeRequest({ ...request, ...fields }, target, source, dropped).body.toString())
  }

  test('goes out as it came, with the gateway’s cap and without what was dropped', () => {
    const body = {
      contents: [{ parts: [{ text: 'x', unheard_of: { a_b: 1 } }] }],
      model: 'models/m',
      tools: [{ google_search: {} }, { functionDeclarations: [{ name: 'f' }], codeExecution: {} }],
      generation_config: { topK: 3, max_output_tokens: 99, somethingNew: 1 },
      somethingNew: 1,
    }
    const dropped = [
      'tools[0].googleSearch',
      'tools[1].codeExecution',
      'somethingNew',
      'generationConfig.somethingNew',
    ]
    expect(send(body, { maxOutputTokens: 9 }, dropped)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'x', unheardOf: { aB: 1 } }] }],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      generationConfig: { topK: 3, maxOutputTokens: 9 },
    })
  })

  test('has no state of the gateway in the ids of calls, and a signature for calls of another provider', () => {
    const foreign = packToolCallId('toolu_1', [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'hm', signature: 's' },
    ])
    const own = packToolCallId('theirs', [
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'SIGNED', id: 'theirs' },
    ])
    const made = `call_${'0'.repeat(24)}`
    const turns = (calls: JsonObject[], results: JsonObject[]): JsonObject[] => [
      { role: 'model', parts: calls },
      { role: 'user', parts: results },
    ]
    const call = (id: string): JsonObject => ({ functionCall: { id, name: 'f', args: {} } })
    const result = (id: string): JsonObject => ({ functionResponse: { id, name: 'f', response: {} } })
    const contents = [
      ...turns([call(foreign), call(made)], [result(foreign), result(made)]),
      ...turns([call(own)], [result(own)]),
      ...turns([{ ...call('kept'), thoughtSignature: 'KEPT' }], [result('kept')]),
    ]
    const of = (model: string): unknown =>
      JSON.parse(
        encodeRequest(
          parse({ contents }).request,
          { ...target, model },
          toSourceBody('gemini-content', { contents }),
        ).body.toString(),
      ).contents
    const without = { name: 'f', args: {} }
    const fitted = (signature: object): JsonObject[] => [
      ...turns(
        [{ ...call('toolu_1'), ...signature }, { functionCall: without }],
        [result('toolu_1'), { functionResponse: { name: 'f', response: {} } }],
      ),
      ...turns([{ ...call('theirs'), thoughtSignature: 'SIGNED' }], [result('theirs')]),
      ...turns([{ ...call('kept'), thoughtSignature: 'KEPT' }], [result('kept')]),
    ]
    expect(of('gemini-3-flash-preview')).toEqual(
      fitted({ thoughtSignature: 'skip_thought_signature_validator' }),
    )
    expect(of('gemini-2.5-flash')).toEqual(fitted({}))
  })

  test('has no ids of calls for Vertex AI’s models before Gemini 3', () => {
    const contents = [
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'f', response: {} } }] },
    ]
    const of = (model: string): string =>
      encodeRequest(
        parse({ contents }).request,
        { ...target, provider: vertex, model },
        toSourceBody('gemini-content', { contents }),
      ).body.toString()
    expect(of('gemini-2.5-flash')).not.toContain('c1')
    expect(of('gemini-3.5-flash').match(/"id":"c1"/g)).toHaveLength(2)
  })

  test('stays as it is for the next attempt', () => {
    const body = {
      contents: [{ parts: [{ functionCall: { id: packToolCallId('a', []), name: 'f' }, other: 1 }] }],
      tools: [{ googleSearch: {} }],
      generationConfig: { topK: 3 },
    }
    const source = toSourceBody('gemini-content', body)
    const request = { ...parse(body).request, maxOutputTokens: 9 }
    const attempt = (dropped: string[]): string =>
      encodeRequest(request, { ...target, model: 'gemini-3-pro' }, source, dropped).body.toString()
    const whole = attempt([])
    attempt(['tools[0].googleSearch', 'contents[0].parts[0].other', 'generationConfig.topK'])
    expect(attempt([])).toBe(whole)
    expect(request.passedBody).toEqual(body)
  })

  test('declares no function that may not be called', () => {
    const calling = { mode: 'ANY', allowedFunctionNames: ['f'] }
    const body = {
      contents: CONTENTS,
      tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }],
      toolConfig: { functionCallingConfig: calling },
    }
    expect(send(body, {}).tools).toEqual([{ functionDeclarations: [{ name: 'f' }] }])
  })
})
