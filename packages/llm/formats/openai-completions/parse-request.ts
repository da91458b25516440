import type { Json, JsonObject } from '../../json/json-value.ts'
import type { Message } from '../../request/message.ts'
import {
  invalid,
  optionalFlag,
  optionalNumber,
  optionalObject,
  textAt,
} from '../shared/reading/read-fields.ts'
import type { MutableRequest } from '../shared/requests/field-table.ts'
import { noFindings } from '../shared/requests/findings.ts'
import type { ParseContext, ParsedChat } from '../shared/requests/parsed-chat.ts'
import { assertNoReservedFields } from '../shared/requests/reserved-fields.ts'
import { findStored } from '../shared/requests/stored-fields.ts'
import { FIELDS, isToken } from './fields.ts'

/** The number of answers that OpenAI accepts for one prompt. */
const CHOICES = { min: 1, max: 128, integer: true }
const BEST_OF = { min: 1, max: 20, integer: true }
/** Answers to all prompts together. */
const MAX_ANSWERS = 2048

/**
 * A body of `POST {prefix}/v1/completions` as a canonical request, in which every prompt is a message: its tokens are
 * counted, and the prompts themselves go to the provider as they came. Unknown fields pass on to it.
 */
export function parseRequest(body: JsonObject, { isEndUser }: ParseContext): ParsedChat {
  assertNoReservedFields(body, FIELDS.names)
  const model = textAt(body.model, 'model')
  if (model === '') throw invalid('model', 'must not be empty.')
  const options = optionalObject(body, 'stream_options')
  const request: MutableRequest = {
    model,
    messages: parsePrompts(body.prompt),
    stream: optionalFlag(body, 'stream') ?? false,
    includeUsage:
      (options && optionalFlag(options, 'include_usage', 'stream_options.include_usage')) ?? false,
  }
  FIELDS.read(body, request)
  const perPrompt = Math.max(
    optionalNumber(body, 'n', CHOICES) ?? 1,
    optionalNumber(body, 'best_of', BEST_OF) ?? 1,
  )
  if (request.stream && (body.best_of ?? 1) !== 1) throw invalid('best_of', 'must be 1 in a stream.')
  const choices = request.messages.length * perPrompt
  if (choices > MAX_ANSWERS) throw invalid('n', `asks for more than ${MAX_ANSWERS} answers in all.`)
  const findings = noFindings()
  findings.choices = choices
  if (isEndUser) {
    findings.passedOn = FIELDS.findUnknown(body) ?? (choices > 1 ? toMultiplier(body) : undefined)
    findings.stored = findStored(body)
  }
  return { request, metadata: null, timeoutMs: undefined, findings }
}

/** Every answer is billed: an end user gets one. */
function toMultiplier({ n, best_of: bestOf }: JsonObject): string {
  if (typeof n === 'number' && n > 1) return 'n'
  return typeof bestOf === 'number' && bestOf > 1 ? 'best_of' : 'prompt'
}

/** A text, several, or the numbers of the tokens of one or of several. */
function parsePrompts(prompt: Json | undefined): Message[] {
  if (typeof prompt === 'string') return [toMessage(prompt)]
  if (!Array.isArray(prompt) || prompt.length === 0) {
    throw invalid('prompt', 'must be a string, a list of strings, or tokens.')
  }
  if (prompt.every(isToken)) return [toMessage(ofTokens(prompt.length))]
  if (prompt.length > MAX_ANSWERS) throw invalid('prompt', `must have at most ${MAX_ANSWERS} entries.`)
  return prompt.map((input, at) => {
    if (typeof input === 'string' && typeof prompt[0] === 'string') return toMessage(input)
    if (Array.isArray(input) && Array.isArray(prompt[0]) && input.length > 0 && input.every(isToken)) {
      return toMessage(ofTokens(input.length))
    }
    throw invalid(`prompt[${at}]`, 'must be of the same kind as the first entry.')
  })
}

function toMessage(content: string): Message {
  return { role: 'user', content }
}

/** Returns a text that estimate.ts counts as `count` tokens. */
function ofTokens(count: number): string {
  return 'word'.repeat(count)
}
