import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { message, messageStream, textBlock } from '../../testing/fakes/scripted-anthropic.ts'
import { completion } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/** JSON that a model is only told to give, because its provider has no field for it. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const FENCED = '```json\n{"a":1}\n```'
const ASKED = { messages: [{ role: 'user', content: 'hi' }], response_format: { type: 'json_object' } }

async function ask(fields: object): Promise<{ readonly emulated: string | null; readonly text: string }> {
  const response = await harness.app.call('/openai/v1/chat/completions', { ...ASKED, ...fields })
  return { emulated: response.headers.get('x-rideau-emulated-params'), text: await response.text() }
}

const toContent = (stream: string): string =>
  [...stream.matchAll(/^data: (\{.*)$/gm)]
    .map(([, data = '']) => JSON.parse(data).choices[0]?.delta.content ?? '')
    .join('')

describe('at Claude', () => {
  const model = 'anthropic/claude-opus-4-8'

  test('comes without its code fence', async () => {
    harness.upstream.script(message([{ type: 'text', text: FENCED }]))
    const { emulated, text } = await ask({ model })
    expect(emulated).toBe('response_format')
    expect(JSON.parse(text).choices[0].message.content).toBe('{"a":1}')
  })

  test('streams without its code fence', async () => {
    harness.upstream.script(messageStream(textBlock(0, '```', 'json\n{"a"', ':1}', '\n``', '`')))
    const { emulated, text } = await ask({ model, stream: true })
    expect(emulated).toBe('response_format')
    expect(toContent(text)).toBe('{"a":1}')
    expect(text).toContain('"finish_reason":"stop"')
  })

  test('is whatever the model says, if that is no JSON', async () => {
    harness.upstream.script(message([{ type: 'text', text: 'I would rather not.' }]))
    const { text } = await ask({ model })
    expect(JSON.parse(text).choices[0].message.content).toBe('I would rather not.')
  })
})

test('answers of providers that have a field for it stay as they came', async () => {
  harness.upstream.script(completion(FENCED))
  const { emulated, text } = await ask({ model: 'groq/llama-3.3-70b-versatile' })
  expect(emulated).toBeNull()
  expect(JSON.parse(text).choices[0].message.content).toBe(FENCED)
})
