import { type Json, type JsonObject, toObject } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import { toPlainName } from '@rideau/llm/upstream/reserved-names'
import { OTHER } from '@rideau/llm/usage/character-weights'
import { estimateMaxTokens } from '@rideau/llm/usage/estimate'
import { LongTexts, type RandomBytes } from '@rideau/llm/usage/long-texts'

/** Characters of a body beside its content that are not counted, such as the model's name and sampling parameters. */
const FREE_CHARS = 256
/** Shorter names are structure. Longer ones may be text. */
const SHORT_NAME = 24
/** Values of these names are structure too, unless they are longer than any kind or id. */
const LABELS: ReadonlySet<string> = new Set([
  'role',
  'type',
  'id',
  'status',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'toolUseId',
  'mimeType',
  'media_type',
])
const MAX_LABEL = 64
/** Top-level objects that no provider shows to a model, by their plain names. */
const LOGGED: ReadonlySet<string> = new Set(['metadata', 'labels', 'requestmetadata', 'clientmetadata'])
/** Tokens that a character has at most. */
const MAX_TOKENS_A_CHAR = OTHER / 16

/** How much a text and a number weigh. */
interface Scale {
  readonly number: number
  text(text: string): number
}

const CHARS: Scale = { number: 4, text: text => text.length }
const TOKENS: Scale = { number: 1, text: estimateMaxTokens }

/**
 * Returns the tokens of texts that stand in the received body and not in what countInput and countMaxInput count: reasoning of
 * earlier answers, blocks, items and fields that have no canonical form. Whatever a parser leaves out is found, since all of the
 * body is compared with all that is counted. Images and files in base64 stand in both, and so add nothing here.
 */
export function countUnread(request: ChatRequest, body: JsonObject): number {
  const chars = countUnreadChars(request, body)
  if (chars <= 0) return 0
  const tokens = weighBody(body, TOKENS) - weighCounted(request, TOKENS) - FREE_CHARS / 4
  return Math.ceil(Math.max(chars / 4, tokens))
}

/**
 * Returns the same of a body that is too long to be read, by samples of both. Their errors are of all texts, but the number of
 * characters that are not read is known, and bounds their tokens.
 */
export function sampleUnread(request: ChatRequest, body: JsonObject, random: RandomBytes): number {
  const chars = countUnreadChars(request, body)
  if (chars <= 0) return 0
  const [received, counted] = [new LongTexts(), new LongTexts()]
  const numbers = weighBody(body, toScale(received)) - weighCounted(request, toScale(counted))
  const sixteenths = received.weigh(random).mostSixteenths - counted.weigh(random).sixteenths
  const tokens = sixteenths / 16 + numbers - FREE_CHARS / 4
  return Math.ceil(Math.min(Math.max(chars / 4, tokens), chars * MAX_TOKENS_A_CHAR))
}

function toScale(texts: LongTexts): Scale {
  return {
    number: 1,
    text(text) {
      texts.add(text)
      return 0
    },
  }
}

function countUnreadChars(request: ChatRequest, body: JsonObject): number {
  return weighBody(body, CHARS) - weighCounted(request, CHARS) - FREE_CHARS
}

function weighBody(body: JsonObject, scale: Scale): number {
  let sum = 0
  for (const name in body) {
    const value = body[name]
    if (typeof value !== 'object' || !LOGGED.has(toPlainName(name))) sum += weighField(name, value, scale)
  }
  return sum
}

function weighCounted(request: ChatRequest, scale: Scale): number {
  const { messages, tools, responseFormat, passedInput } = request
  let sum = 0
  for (const { content, tool_calls: calls } of messages) {
    sum += weigh(calls as unknown as Json | undefined, scale)
    if (typeof content === 'string') sum += scale.text(content)
    else if (Array.isArray(content)) for (const part of content) sum += weighPart(part, scale)
  }
  sum += weigh(tools as unknown as Json | undefined, scale)
  return sum + weigh(responseFormat as unknown as Json | undefined, scale) + weigh(passedInput, scale)
}

/** Counts only the text of a text part and only the image of an image part, whatever else the part has. */
function weighPart(part: ContentPart, scale: Scale): number {
  if (part.type === 'text') return weigh(part.text, scale)
  if (part.type === 'image_url') return weigh(toObject(part.image_url)?.url ?? part.image_url, scale)
  return weigh(part, scale)
}

function weigh(value: Json | undefined, scale: Scale): number {
  if (typeof value === 'string') return scale.text(value)
  if (typeof value === 'number') return scale.number
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  if (Array.isArray(value)) {
    for (const item of value) sum += typeof item === 'number' ? scale.number : weigh(item, scale)
    return sum
  }
  for (const name in value) sum += weighField(name, value[name], scale)
  return sum
}

function weighField(name: string, value: Json | undefined, scale: Scale): number {
  const ofName = name.length > SHORT_NAME ? scale.text(name) : 0
  if (typeof value === 'string' && value.length <= MAX_LABEL && LABELS.has(name)) return ofName
  return ofName + weigh(value, scale)
}
