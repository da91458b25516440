import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import * as anthropic from '../../anthropic-messages/server/parse-request.ts'
import * as bedrock from '../../bedrock-converse/server/parse-request.ts'
import * as cohere from '../../cohere-v2/server/parse-request.ts'
import * as gemini from '../../gemini-content/server/parse-request.ts'
import * as responses from '../../openai-responses/server/parse-request.ts'
import type { ParseContext, ParsedChat } from '../requests/parsed-chat.ts'

const texts = (count: number): Json => Array.from({ length: count }, (_, index) => `some text ${index}`)

type Parse = (body: JsonObject, context: ParseContext) => ParsedChat
type Make = (counts: readonly number[]) => JsonObject

const chat = (content: Json[]): JsonObject => ({
  model: 'm',
  max_tokens: 5,
  messages: [{ role: 'user', content }],
})

const FORMATS: readonly (readonly [string, Parse, Make])[] = [
  [
    'anthropic-messages',
    anthropic.parseRequest,
    counts => chat(counts.map(count => ({ type: 'novel', a: texts(count) }))),
  ],
  [
    'cohere-v2',
    cohere.parseRequest,
    counts => chat(counts.map(count => ({ type: 'novel', a: texts(count) }))),
  ],
  [
    'bedrock-converse',
    bedrock.parseRequest,
    counts => ({ messages: [{ role: 'user', content: counts.map(count => ({ novel: texts(count) })) }] }),
  ],
  [
    'openai-responses',
    responses.parseRequest,
    counts => ({ model: 'm', input: counts.map(count => ({ type: 'novel', a: texts(count) })) }),
  ],
  [
    'openai-responses, in an answer',
    responses.parseRequest,
    counts => ({
      model: 'm',
      input: [{ role: 'assistant', content: counts.map(count => ({ type: 'novel', a: texts(count) })) }],
    }),
  ],
  [
    'gemini-content',
    (body, context) => gemini.parseRequest(body, context, false),
    counts => ({
      contents: [
        { role: 'user', parts: counts.map(count => ({ text: 'x', toolCall: { a: texts(count) } })) },
      ],
    }),
  ],
]

test.each(FORMATS)(
  'looks at so many texts of all unread parts of a body for documents: %s',
  (_, parse, make) => {
    const find = (counts: readonly number[]): readonly string[] => {
      const body = make(counts)
      const source = {
        format: 'openai-chat' as const,
        bytes: Buffer.alloc(0),
        value: body,
        fields: new Map(),
      }
      return parse(body, { source, pathModel: 'm', isEndUser: false }).findings.unmeasured
    }
    expect(find(Array(9).fill(1_000))).toEqual([])
    expect(find(Array(11).fill(1_000))).toHaveLength(1)
  },
)
