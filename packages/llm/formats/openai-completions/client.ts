import type { Json } from '../../json/json-value.ts'
import { toArray, toIndex, toObject, toObjects, toText } from '../../json/json-value.ts'
import { parseObject } from '../../json/parse-object.ts'
import { spliceObject } from '../../json/splice.ts'
import type { StreamDecoder, StreamEvent } from '../../stream/stream-event.ts'
import { toAddress, toWireModel } from '../../upstream/openai-address.ts'
import type { Target } from '../../upstream/target.ts'
import { withReportedCost } from '../../usage/reported-cost.ts'
import { openStream as openChatStream } from '../openai-chat/client/decode-stream.ts'
import { readFinishReason } from '../shared/answers/decode-message.ts'
import { decodeUsage } from '../shared/answers/decode-usage.ts'
import type { ClientFormat, EncodeRequest } from '../shared/client-format.ts'
import { decodeError } from '../shared/errors/decode-error.ts'
import { FIELDS } from './fields.ts'

/** OpenAI's `POST /completions`, which many servers of its format have. Only bodies of this format go there. */
export const openAiCompletions: ClientFormat = {
  id: 'openai-completions',
  framing: 'sse',
  encodeRequest,
  listUnsupportedParams: () => [],
  decodeReply: (body, target) => ({
    choices: toObjects(body.choices).map((choice, position) => ({
      index: toIndex(choice.index) ?? position,
      message: { role: 'assistant', content: toText(choice.text) ?? '' },
      finishReason: readFinishReason(choice.finish_reason, false) ?? 'stop',
    })),
    usage: withReportedCost(decodeUsage(body), body.usage, target),
  }),
  openStream: target => new TextDecoder(target),
  decodeError,
}

function encodeRequest(...[request, target, source, dropped = []]: Parameters<EncodeRequest>) {
  if (source?.format !== 'openai-completions') throw new Error('a completion is made of no other format')
  const { value, fields } = source
  const changes = new Map<string, Json | undefined>([['model', toWireModel(target)]])
  if (request.maxOutputTokens !== undefined) changes.set('max_tokens', request.maxOutputTokens)
  // Usage is asked for in every stream.
  if (request.stream && target.provider.openai?.refusesStreamOptions !== true) {
    changes.set('stream_options', { ...toObject(value.stream_options), include_usage: true })
  } else if (fields.has('stream_options')) changes.set('stream_options', undefined)
  for (const name of dropped) changes.set(name, undefined)
  return {
    ...toAddress(target, '/completions'),
    headers: {
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    },
    body: spliceObject(source, changes),
    content: { rules: FIELDS.rules, value, changes },
  }
}

/** Chunks differ from those of a chat in one place: the new text. */
class TextDecoder implements StreamDecoder {
  readonly #chat: StreamDecoder

  constructor(target: Target) {
    this.#chat = openChatStream(target)
  }

  get unsent(): number {
    return this.#chat.unsent ?? 0
  }

  decode(data: string, event?: string): readonly StreamEvent[] {
    const chunk = data === '[DONE]' ? undefined : parseObject(data)
    if (chunk === undefined) return this.#chat.decode(data, event)
    const choices = toArray(chunk.choices).map(value => {
      const choice = toObject(value)
      return choice === undefined ? value : { ...choice, delta: { content: choice.text } }
    })
    return this.#chat.decode(JSON.stringify({ ...chunk, choices }), event)
  }
}
