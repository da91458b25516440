import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { ollama } from '../../../providers/ollama.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import { addUp } from '../../../testing/add-up.ts'
import type { Target } from '../../../upstream/target.ts'
import type { EncodedRequest } from '../../../upstream/upstream-request.ts'
import { FIELDS as OPENAI_FIELDS } from '../../openai-chat/wire/fields.ts'
import { ollamaChat } from './client.ts'

const REQUEST: ChatRequest = { model: 'x', messages: [], stream: false, includeUsage: true }
const TARGET: Target = { provider: ollama, model: 'qwen3', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: '' }

const send = (
  fields: Partial<ChatRequest>,
  target: Partial<Target> = {},
  source?: JsonObject,
): EncodedRequest =>
  ollamaChat.encodeRequest({ ...REQUEST, ...fields, ...toExtra(source) }, { ...TARGET, ...target }, undefined)
const toExtra = (body: JsonObject = {}): Partial<ChatRequest> => {
  const extra = OPENAI_FIELDS.readExtra(body)
  return extra === undefined ? {} : { extra }
}
const encode = (...given: Parameters<typeof send>): JsonObject => JSON.parse(send(...given).body.toString())
const unsupported = (fields: Partial<ChatRequest>): readonly string[] =>
  ollamaChat.listUnsupportedParams({ ...REQUEST, ...fields }, ollama, 'qwen3')

describe('encodeRequest', () => {
  test.each([
    ['http://h:1/v1', 'http://h:1', '/api/chat'],
    ['http://h:1', 'http://h:1', '/api/chat'],
    ['https://ollama.com/v1', 'https://ollama.com', '/api/chat'],
    ['https://h/behind/v1', 'https://h', '/behind/api/chat'],
  ])('a credential for %s reaches the chat route', (baseUrl, origin, path) => {
    expect(send({}, { baseUrl })).toMatchObject({ origin, path })
  })

  test('parameters are options; the context length is the credential’s unless the caller sets one', () => {
    const options = { num_ctx: '32768' }
    expect(
      encode({ maxOutputTokens: 9, temperature: 0, topP: 0.5, seed: 1, stop: ['x'] }, { options }).options,
    ).toEqual({
      num_ctx: 32_768,
      temperature: 0,
      top_p: 0.5,
      stop: ['x'],
      seed: 1,
      num_predict: 9,
    })
    const providerOptions = { ollama: { options: { num_ctx: 8192 }, keep_alive: '5m' } }
    expect(encode({ providerOptions }, { options })).toMatchObject({
      options: { num_ctx: 8192 },
      keep_alive: '5m',
    })
    expect(encode({}, { options: { num_ctx: 'many' } })).not.toHaveProperty('options')
  })

  test("an output cap in the caller's options is replaced by the gateway's, or left out", () => {
    const providerOptions = { ollama: { options: { num_predict: 999_999 } } }
    expect(encode({ providerOptions, maxOutputTokens: 5 }).options).toEqual({ num_predict: 5 })
    expect(encode({ providerOptions })).not.toHaveProperty('options')
    expect(encode({}, {}, { options: { num_predict: 7, top_k: 3 }, think: 'low' })).toMatchObject({
      options: { top_k: 3 },
      think: 'low',
    })
  })

  test('a format is a schema or json; an effort is true or false, and a word for gpt-oss', () => {
    const schema = { type: 'object' }
    expect(
      encode({ responseFormat: { type: 'json_schema', json_schema: { name: 'n', schema } } }).format,
    ).toEqual(schema)
    expect(encode({ responseFormat: { type: 'json_object' } }).format).toBe('json')
    expect(encode({ responseFormat: { type: 'text' } })).not.toHaveProperty('format')
    expect(encode({ reasoningEffort: 'low' }).think).toBe(true)
    expect(encode({ reasoningEffort: 'none' }).think).toBe(false)
    expect(encode({ reasoningEffort: 'minimal' }, { model: 'gpt-oss:20b' }).think).toBe('low')
  })

  test('images stand beside the text, arguments are objects, and results name their tool', () => {
    const call = {
      id: 'c1__rd1__AAAA',
      type: 'function' as const,
      function: { name: 'f', arguments: '{"a":1}' },
    }
    const messages: ChatRequest['messages'] = [
      { role: 'developer', content: 'Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See: ' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
          { type: 'text', text: 'this.' },
        ],
      },
      { role: 'assistant', content: null, reasoning: 'I look.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1__rd1__AAAA', content: 'ok' },
    ]
    expect(encode({ messages }).messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'See: this.', images: ['QUJD'] },
      {
        role: 'assistant',
        content: '',
        thinking: 'I look.',
        tool_calls: [{ id: 'c1', function: { name: 'f', arguments: { a: 1 } } }],
      },
      { role: 'tool', content: 'ok', tool_call_id: 'c1', tool_name: 'f' },
    ])
  })

  test('no tools are sent if none may be called; a required call is refused by name', () => {
    const tools = [{ type: 'function' as const, function: { name: 'f' } }]
    expect(encode({ tools, toolChoice: 'none' })).not.toHaveProperty('tools')
    expect(encode({ tools, toolChoice: 'auto' }).tools).toHaveLength(1)
    expect(unsupported({ tools, toolChoice: 'required', parallelToolCalls: false })).toEqual([
      'parallel_tool_calls',
      'tool_choice',
    ])
    expect(unsupported({ tools, toolChoice: 'auto', parallelToolCalls: true })).toEqual([])
  })
})

describe('streams', () => {
  const decode = (...lines: object[]) => {
    const decoder = ollamaChat.openStream(TARGET)
    return addUp(lines.flatMap(line => decoder.decode(JSON.stringify(line))))
  }
  const line = (message: object, rest: object = { done: false }) => ({
    created_at: 't',
    message: { role: 'assistant', ...message },
    ...rest,
  })

  test('have thinking, text and complete calls, each with its own id, and the counts at the end', () => {
    const call = (name: string) => ({ function: { name, arguments: { a: 1 } } })
    const sum = decode(
      line({ content: '', thinking: 'Hm' }),
      line({ content: 'So' }),
      line({ content: '', tool_calls: [call('f')] }),
      line({ content: '', tool_calls: [call('f'), { id: 'theirs', ...call('g') }] }),
      line({ content: '' }, { done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 4 }),
    )
    expect(sum).toMatchObject({ content: 'So', reasoning: 'Hm', finishReason: 'tool_calls', isEnded: true })
    expect(sum.usage).toMatchObject({ uncachedInput: 3, output: 4 })
    expect(sum.calls.map(each => [each.name, each.arguments])).toEqual(
      Array(3)
        .fill(0)
        .map((_, at) => [at < 2 ? 'f' : 'g', '{"a":1}']),
    )
    expect(new Set(sum.calls.map(({ id }) => id)).size).toBe(3)
    expect(sum.calls[2]?.id).toBe('theirs')
  })

  test('end with an error at a line that is one, or that is not JSON', () => {
    expect(decode(line({ content: 'a' }), { error: 'server busy, please try again' }).error?.detail).toMatch(
      /busy/,
    )
    expect(ollamaChat.openStream(TARGET).decode('<html>')).toMatchObject([{ type: 'error' }])
  })

  test('report the finish reason length', () => {
    expect(decode(line({ content: 'a' }, { done: true, done_reason: 'length' }))).toMatchObject({
      finishReason: 'length',
      usage: undefined,
    })
  })
})

test.each([
  [404, "model 'x' not found", 'model_not_found'],
  [400, 'prompt too long; exceeded max context length by 4 tokens', 'context_length'],
  [503, 'server busy, please try again.  maximum pending requests exceeded', 'overloaded'],
  [401, 'unauthorized', 'auth'],
  [400, 'registry.ollama.ai/library/x does not support tools', 'bad_request'],
])('%i %s is %s', (status, error, kind) => {
  expect(ollamaChat.decodeError(status, {}, JSON.stringify({ error }))).toMatchObject({ kind, status })
})

test('an error in place of an answer has no choices', () => {
  expect(ollamaChat.decodeReply({ error: 'broke' }, TARGET).choices).toEqual([])
})
