import { expect, test } from 'vitest'
import { INITIAL_DRAFT } from './draft.ts'
import { toRequestSnippets } from './request-snippets.ts'
import { findDraftProblem, toChatParams, toShownParams } from './to-chat-params.ts'

const draft = { ...INITIAL_DRAFT, model: 'openai/gpt-5.4', prompt: 'Hi' }
const TOOLS = '[{"type":"function","function":{"name":"f"}}]'

test('leaves out what is not set', () => {
  expect(toChatParams(draft)).toEqual({
    model: 'openai/gpt-5.4',
    messages: [{ role: 'user', content: 'Hi' }],
  })
})

test('sends parameters, tools, a schema, images and what was answered before', () => {
  const params = toChatParams(
    {
      ...draft,
      system: 'Be brief.',
      temperature: '0',
      topP: '0.5',
      seed: '7',
      maxOutputTokens: '20',
      reasoningEffort: 'low',
      tools: TOOLS,
      schema: '{"type":"object"}',
    },
    ['data:image/png;base64,AA=='],
    [
      { prompt: 'One', images: [], answer: 'Two' },
      { prompt: 'Failed', images: [], answer: '' },
    ],
  )
  expect(params).toEqual({
    model: 'openai/gpt-5.4',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
    ],
    temperature: 0,
    top_p: 0.5,
    seed: 7,
    max_output_tokens: 20,
    reasoning_effort: 'low',
    tools: JSON.parse(TOOLS),
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
    },
  })
})

test.each([
  [{ tools: '{' }, 'tools'],
  [{ tools: '{}' }, 'tools'],
  [{ tools: '[1]' }, 'tools'],
  [{ schema: '[]' }, 'schema'],
  [{ schema: 'null' }, 'schema'],
])('names the field that cannot be sent: %j', (change, field) => {
  expect(findDraftProblem({ ...draft, ...change })?.field).toBe(field)
})

test('finds no problem in an empty and in a whole draft', () => {
  expect(findDraftProblem(draft)).toBeUndefined()
  expect(findDraftProblem({ ...draft, tools: TOOLS, schema: '{}' })).toBeUndefined()
})

test('writes the same request as code, quoted for the shell and for Python', () => {
  const params = toChatParams({ ...draft, prompt: "It's", maxOutputTokens: '5' })
  const [curl, typescript, python] = toRequestSnippets(params, {
    gatewayUrl: 'https://g.example',
    prefixes: { openai: '/openai' },
  })
  expect(curl?.text).toContain(`It'\\''s`)
  expect(curl?.text).toContain('"authorization: Bearer $RIDEAU_KEY"')
  expect(typescript?.text).toContain('"max_output_tokens": 5')
  expect(python?.text).toContain('base_url="https://g.example/openai/v1"')
  expect(python?.text).toContain('max_completion_tokens=5')
  const nested = toChatParams({ ...draft, schema: '{"a":[true,null,false]}' })
  expect(toRequestSnippets(nested, { gatewayUrl: 'x', prefixes: {} })[2]?.text).toContain(
    '[True, None, False]',
  )
})

test('a tool is answered with its result, and a call that nobody answered is left out', () => {
  const tools = [{ id: 'call_1', name: 'f', arguments: '{}' }]
  const asked = { prompt: 'Weather?', images: [], answer: '', tools }
  const results = [{ id: 'call_1', content: 'It snows.' }]
  const said = [
    { role: 'user', content: 'Weather?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'It snows.' },
  ]
  expect(toChatParams(draft, [], [asked], results).messages).toEqual(said)
  const answered = { prompt: '', images: [], results, answer: 'Snow.' }
  expect(toChatParams(draft, [], [asked, answered]).messages).toEqual([
    ...said,
    { role: 'assistant', content: 'Snow.' },
    { role: 'user', content: 'Hi' },
  ])
  expect(toChatParams(draft, [], [asked]).messages).toEqual([
    { role: 'user', content: 'Weather?' },
    { role: 'user', content: 'Hi' },
  ])
})

test('shows the request that was sent until another prompt is written', () => {
  const turns = [
    { prompt: 'First', images: [], answer: 'One' },
    { prompt: 'Second', images: ['data:x'], answer: 'Two' },
  ]
  const sent = toChatParams({ ...draft, prompt: 'Second' }, ['data:x'], turns.slice(0, 1))
  expect(toShownParams({ ...draft, prompt: '' }, [], turns)).toEqual(sent)
  const next = toChatParams({ ...draft, prompt: 'Third' }, [], turns)
  expect(toShownParams({ ...draft, prompt: 'Third' }, [], turns)).toEqual(next)
  expect(toShownParams({ ...draft, prompt: '' }, [], []).messages).toEqual([
    { role: 'user', content: 'Hello' },
  ])
})
