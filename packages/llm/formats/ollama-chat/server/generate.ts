import type { JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import { invalid, listAt, optionalFlag, optionalText, textAt } from '../../shared/reading/read-fields.ts'
import type { ParseContext, ParsedChat } from '../../shared/requests/parsed-chat.ts'
import type { ChatServer, ReplyContext } from '../../shared/server-format.ts'
import { encodeHead, encodeReply } from './encode-reply.ts'
import { toImageUrl } from './parse-messages.ts'
import { parseRequest } from './parse-request.ts'
import { ollamaServer, TranslatedStream, toEnvelope } from './server.ts'

/**
 * `{ollama prefix}/api/generate`: one prompt, answered as a chat of one message at every provider, Ollama's own servers
 * included.
 */
export const generateServer: ChatServer = {
  ...ollamaServer,
  parse: parseGenerate,
  encodeReply: toReply,
  openStream: context => new TranslatedStream(context, toGenerated),
  encodeModelLoad: (envelope, { asksOnly }) => ({
    ...encodeHead(envelope),
    response: '',
    done: true,
    done_reason: asksOnly ?? 'load',
  }),
}

/** Fields of a chat that this route does not have. */
const OF_CHATS = ['messages', 'tools']

function parseGenerate(body: JsonObject, context: ParseContext): ParsedChat {
  for (const name of OF_CHATS) {
    if (Object.hasOwn(body, name)) throw invalid(name, 'is not a field of this route; use /api/chat.')
  }
  const { prompt, system, images, suffix, template, raw, context: state, ...rest } = body
  const asksOnly = prompt === undefined || prompt === null || prompt === '' ? toLoadAction(body) : undefined
  const unsupported = asksOnly === undefined ? listUnsupported(body) : []
  const messages = asksOnly === undefined ? toMessages(body) : [{ role: 'user', content: '' }]
  const parsed = parseRequest({ ...rest, messages }, context)
  // A client that loads a model before it asks reads one object, whatever it says of streams.
  if (asksOnly !== undefined) return { ...parsed, request: { ...parsed.request, stream: false }, asksOnly }
  if (unsupported.length === 0) return parsed
  const { findings } = parsed
  return {
    ...parsed,
    findings: {
      ...findings,
      unknownFields: [...findings.unknownFields, ...unsupported],
      passedOn: context.isEndUser ? (findings.passedOn ?? unsupported[0]) : undefined,
    },
  }
}

/** Without a prompt a server of the format loads the model, or frees it where it shall be kept for no time. */
function toLoadAction({ keep_alive: kept }: JsonObject): 'load' | 'unload' {
  return kept === 0 || (typeof kept === 'string' && /^0(?:ms|s|m|h)?$/.test(kept)) ? 'unload' : 'load'
}

function toMessages(body: JsonObject): JsonObject[] {
  const prompt = textAt(body.prompt, 'prompt')
  const system = optionalText(body, 'system')
  const { images } = body
  const shown = images === undefined || images === null ? [] : listAt(images, 'images')
  for (const [at, image] of shown.entries()) {
    if (toImageUrl(image) === undefined) {
      throw invalid(`images[${at}]`, 'must be a PNG, JPEG, GIF or WebP image in base64.')
    }
  }
  const user: JsonObject = { role: 'user', content: prompt, ...(shown.length === 0 ? {} : { images: shown }) }
  return system === undefined || system === '' ? [user] : [{ role: 'system', content: system }, user]
}

/** What only a server that writes the model's prompt itself could honour. */
function listUnsupported(body: JsonObject): string[] {
  const unsupported: string[] = []
  for (const name of ['suffix', 'template']) {
    const text = optionalText(body, name)
    if (text !== undefined && text !== '') unsupported.push(name)
  }
  if (optionalFlag(body, 'raw') === true) unsupported.push('raw')
  const { context } = body
  if (context !== undefined && context !== null && listAt(context, 'context').length > 0) {
    unsupported.push('context')
  }
  return unsupported
}

function toReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  const timing = { firstMs: 0, totalMs: context.clock.elapsedMs() }
  const reply = encodeReply({ ...answer.reply, usage: bill.usage }, toEnvelope(context), timing)
  return toSentJson(toGenerated(reply))
}

/** A line of a chat as one of this route: the text stands in it without a message. */
function toGenerated({ model, created_at, message, ...rest }: JsonObject): JsonObject {
  const { content, thinking } = toObject(message) ?? {}
  return {
    model,
    created_at,
    response: content ?? '',
    ...(thinking === undefined ? {} : { thinking }),
    ...rest,
  }
}
