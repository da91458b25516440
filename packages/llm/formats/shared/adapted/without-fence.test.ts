import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import { addUp } from '../../../testing/add-up.ts'
import type { Target } from '../../../upstream/target.ts'
import { ollamaChat } from '../../ollama-chat/client/client.ts'
import { withoutFence } from './without-fence.ts'

const target: Target = {
  provider: findProvider('ollama') as Provider,
  model: 'm',
  baseUrl: 'https://a.example',
  apiKey: '',
}
const format = withoutFence(ollamaChat)
const line = (content: string, fields: object = {}): string =>
  JSON.stringify({ message: { role: 'assistant', content }, ...fields })

const readPlain = (content: string): string | null | undefined =>
  format.decodeReply(JSON.parse(line(content, { done: true })), target).choices[0]?.message.content

/** The answer as a client adds it up, which came in these pieces. */
function readStream(pieces: readonly string[], isEnded = true): string {
  const decoder = format.openStream(target)
  const lines = pieces.map(piece => line(piece))
  lines.push(isEnded ? line('', { done: true, done_reason: 'stop' }) : JSON.stringify({ error: 'gone' }))
  return addUp(lines.flatMap(each => [...decoder.decode(each)])).content
}

describe('the code fence around an answer is left out', () => {
  test.each<[string, string, string]>([
    ['with the name of a language', '```json\n{"a":1}\n```', '{"a":1}'],
    ['without a name, and with white space around it', ' \n```\r\n[1]\n ```\n\n', '[1]'],
    ['of an answer that was cut', '```json\n{"a":', '{"a":'],
    ['around JSON with a fence in a text', '```json\n{"a":"```\\n"}\n```', '{"a":"```\\n"}'],
  ])('%s', (_, given, expected) => {
    expect(readPlain(given)).toBe(expected)
    expect(readStream([given])).toBe(expected)
    expect(readStream([...given])).toBe(expected)
    expect(readStream([...given], false)).toBe(expected)
  })

  test.each([
    '{"a":1}',
    ' {"a":1}\n',
    'Here it is:\n```json\n{"a":1}\n```',
    '`a`',
    '``',
    '```{"a":1}```',
    '```{"a":1}\n```',
    '```json {"a":1}\n```',
    '```{\n"a":1\n}\n```',
    '``\n1\n``',
    '   ',
    `${' '.repeat(300)}x`,
    `\`\`\`${'a'.repeat(40)}\n1\n\`\`\``,
  ])('no other text changes: %j', text => {
    expect(readPlain(text)).toBe(text)
    expect(readStream([...text])).toBe(text)
  })

  test('in any pieces', () => {
    const texts = fc.stringMatching(/^[`\n\s{}a"]{0,12}$/)
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 6 }), pieces => {
        expect(readStream(pieces)).toBe(readPlain(pieces.join('')) ?? '')
      }),
    )
  })
})

test('calls and reasoning stay as they are, and an opening that ends the text is sent', () => {
  const call = { function: { name: 'f', arguments: {} } }
  const decoder = format.openStream(target)
  const lines = [
    JSON.stringify({ message: { role: 'assistant', content: '```js', thinking: 'hm' } }),
    JSON.stringify({ message: { role: 'assistant', content: '', tool_calls: [call] }, done: true }),
  ]
  const sum = addUp(lines.flatMap(each => [...decoder.decode(each)]))
  expect(sum).toMatchObject({ content: '```js', reasoning: 'hm', finishReason: 'tool_calls', isEnded: true })
  expect(sum.calls).toHaveLength(1)
})
