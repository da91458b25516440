import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import { hasRecordings, listAnswers, readAnswer } from '../../../testing/recorded-answers.ts'
import { anthropicMessages } from '../../anthropic-messages/client/client.ts'
import { encodeReply as encodeMessage } from '../../anthropic-messages/server/encode-reply.ts'
import { bedrockConverse } from '../../bedrock-converse/client/client.ts'
import { encodeReply as encodeConverse } from '../../bedrock-converse/server/encode-reply.ts'
import { geminiContent } from '../../gemini-content/client/client.ts'
import { openAiResponses } from '../../openai-responses/client/client.ts'
import type { ClientFormat } from '../client-format.ts'

/** Recorded plain answers as callers of formats with an order get them. Without the recordings these tests are skipped. */

type Kind = 'text' | 'thinking' | 'call'

/** What stands behind each other, texts next to each other as one. */
function listKinds(blocks: readonly JsonObject[], kindOf: (block: JsonObject) => Kind | undefined): Kind[] {
  const kinds = blocks.map(kindOf).filter(kind => kind !== undefined)
  return kinds.filter((kind, at) => kind !== 'text' || kinds[at - 1] !== 'text')
}

const kindOfClaude = ({ type, text, name }: JsonObject): Kind | undefined => {
  if (type === 'text') return text === '' ? undefined : 'text'
  if (type === 'tool_use') return typeof name === 'string' ? 'call' : undefined
  return type === 'thinking' || type === 'redacted_thinking' ? 'thinking' : undefined
}
const kindOfConverse = ({ text, toolUse, reasoningContent }: JsonObject): Kind | undefined => {
  if (typeof text === 'string') return text === '' ? undefined : 'text'
  if (toObject(toolUse) !== undefined) return 'call'
  return toObject(reasoningContent) === undefined ? undefined : 'thinking'
}

/** The blocks of each caller's answer. */
function encode(format: ClientFormat, body: JsonObject) {
  const target = { provider: custom, model: 'm', baseUrl: 'https://a.example', apiKey: '' }
  const reply = format.decodeReply(body, target)
  const [choice] = reply.choices
  if (choice === undefined || choice.finishReason === 'length') return undefined
  const envelope = { id: 'msg_1', created: 0, model: 'm' }
  const message = toObjects(encodeMessage(reply, envelope).content)
  const output = toObject(encodeConverse(reply, 0).output)
  return { choice, message, converse: toObjects(toObject(output?.message)?.content) }
}

const bodies = (format: ClientFormat): [string, JsonObject][] =>
  listAnswers(format.id, 'unary').flatMap(path => {
    const { json, status } = readAnswer(path, format.framing)
    const body = toObject(json)
    return status === 200 && body !== undefined ? [[path, body] as [string, JsonObject]] : []
  })

describe.skipIf(!hasRecordings)('recorded answers', () => {
  test.each([anthropicMessages, bedrockConverse, geminiContent, openAiResponses])(
    'of $id lose no text and no call',
    format => {
      let count = 0
      for (const [path, body] of bodies(format)) {
        const encoded = encode(format, body)
        if (encoded === undefined) continue
        const { choice, message, converse } = encoded
        const { content, refusal, tool_calls: calls = [] } = choice.message
        const expected = [path, content ?? refusal ?? '', calls.length]
        const join = (blocks: JsonObject[]): string => blocks.map(({ text }) => text ?? '').join('')
        expect([path, join(message), message.filter(each => kindOfClaude(each) === 'call').length]).toEqual(
          expected,
        )
        expect([path, join(converse), converse.filter(({ toolUse }) => toolUse).length]).toEqual(expected)
        count++
      }
      expect(count).toBeGreaterThan(20)
    },
  )

  test('of Claude keep their order', () => {
    let count = 0
    for (const [path, body] of bodies(anthropicMessages)) {
      const encoded = encode(anthropicMessages, body)
      // The explanation of a refusal is no block of the recording.
      if (encoded === undefined || encoded.choice.finishReason === 'content_filter') continue
      const expected = [path, listKinds(toObjects(body.content), kindOfClaude)]
      expect([path, listKinds(encoded.message, kindOfClaude)]).toEqual(expected)
      expect([path, listKinds(encoded.converse, kindOfConverse)]).toEqual(expected)
      if (encoded.choice.parts !== undefined) count++
    }
    expect(count).toBeGreaterThan(0)
  })
})
