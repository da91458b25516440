import { describe, expect, test } from 'vitest'
import type { SentBody } from '../../../json/unwritten-json.ts'
import type { Provider } from '../../../provider/provider.ts'
import { bedrock } from '../../../providers/bedrock.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Message } from '../../../request/message.ts'
import type { Target } from '../../../upstream/target.ts'
import { anthropicMessages } from '../../anthropic-messages/client/client.ts'
import { bedrockConverse } from '../../bedrock-converse/client/client.ts'
import { FORMAT } from '../claude/claude-thinking.ts'

const SIGNED = [{ type: 'reasoning.text', format: FORMAT, text: 'hm', signature: 's', index: 0 }]
const ASK: Message = { role: 'user', content: 'Go' }
const SAY: Message = { role: 'assistant', content: 'Let me see.' }
const RESULT: Message = { role: 'tool', tool_call_id: 'a', content: '1' }
const IMAGE: Message = {
  role: 'user',
  content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
}
const call = (fields: Partial<Message> = {}): Message => ({
  role: 'assistant',
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
  ...fields,
})

const toRequest = (messages: readonly Message[]): ChatRequest => ({
  model: 'x',
  messages,
  stream: false,
  includeUsage: false,
  reasoningEffort: 'low',
  tools: [{ type: 'function', function: { name: 'f' } }],
})

const anthropic = findProvider('anthropic') as Provider
const TARGET = { model: 'claude-sonnet-4-5', baseUrl: 'https://a.example/v1', apiKey: '' }
const read = (body: SentBody): { thinking?: unknown; additionalModelRequestFields?: unknown } =>
  JSON.parse(body.toString())
/** The `thinking` of the request in both formats of Claude. */
function findThinking(messages: readonly Message[]): readonly unknown[] {
  const request = toRequest(messages)
  const direct: Target = { ...TARGET, provider: anthropic }
  const cloud: Target = { ...TARGET, provider: bedrock }
  const { thinking } = read(anthropicMessages.encodeRequest(request, direct, undefined).body)
  const { additionalModelRequestFields: fields } = read(
    bedrockConverse.encodeRequest(request, cloud, undefined).body,
  )
  return [thinking, (fields as { thinking?: unknown } | undefined)?.thinking]
}

describe('a thinking budget', () => {
  test.each<[string, Message[]]>([
    ['results', [ASK, call(), RESULT]],
    ['results and words of the user', [ASK, call(), RESULT, ASK]],
    ['results and an image of the user', [ASK, call(), RESULT, IMAGE]],
    ['results and an instruction', [ASK, call(), RESULT, { role: 'system', content: 'Be brief.' }]],
    ['results of a turn that ends with words', [ASK, call(), SAY, RESULT]],
  ])('is not requested after calls without their thinking, at the end: %s', (_, messages) => {
    expect(findThinking(messages)).toEqual([undefined, undefined])
  })

  test.each<[string, Message[]]>([
    ['calls with their thinking', [ASK, call({ reasoning_details: SIGNED }), RESULT, ASK]],
    ['an answer', [ASK, call(), RESULT, SAY, ASK]],
    ['a turn that began with thinking', [ASK, { ...SAY, reasoning_details: SIGNED }, call(), RESULT]],
    ['a question', [ASK]],
  ])('is requested after %s', (_, messages) => {
    const budget = { type: 'enabled', budget_tokens: 4096 }
    expect(findThinking(messages)).toEqual([budget, budget])
  })
})
