import type { JsonObject } from '../../../json/json-value.ts'
import { toSentJson } from '../../../json/unwritten-json.ts'
import type { ChatReply, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { toUsd } from '../../../usage/money.ts'
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../usage/usage-sums.ts'
import type { StreamEncoder, StreamEnd } from '../../shared/answers/stream-encoder.ts'
import { toEnvelope } from '../../shared/errors/error-envelope.ts'
import { markDirect } from '../../shared/reasoning/reasoning-carrier.ts'
import type { ChatServer, ReplyContext } from '../../shared/server-format.ts'
import { parseRequest } from './parse-request.ts'

/** `POST /v1/chat`: the gateway's own format. */
export const nativeServer: ChatServer = {
  id: 'native',
  parse: parseRequest,
  encodeReply: (context, answer, bill) => toSentJson(toNativeReply(context, answer.reply, bill)),
  openStream: context => new NativeStream(context),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `event: error\ndata: ${JSON.stringify(toEnvelope(fault, requestId, baseUrl))}\n\n`,
}

function toNativeReply(context: ReplyContext, reply: ChatReply, bill: Bill): JsonObject {
  return {
    id: context.requestId,
    object: 'chat.completion',
    created: context.created,
    model: context.model,
    provider: context.provider,
    choices: reply.choices.map(({ index, message, finishReason }) => ({
      index,
      message: toMessage(message) as unknown as JsonObject,
      finish_reason: finishReason,
    })),
    ...toNativeUsage(context, bill),
  }
}

function toMessage(message: ReplyMessage): ReplyMessage {
  const { reasoning_details: details } = message
  return details === undefined ? message : { ...message, reasoning_details: markDirect(details) }
}

function toNativeUsage(context: ReplyContext, bill: Bill): JsonObject {
  const { usage } = bill
  return {
    usage: {
      input_tokens: inputTokens(usage),
      output_tokens: outputTokens(usage),
      total_tokens: inputTokens(usage) + outputTokens(usage),
      input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWriteTokens(usage) },
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      ...(context.isSandbox ? { sandbox: true } : {}),
    },
    cost_usd: toUsd(bill.costNanoUsd),
  }
}

/** The stream of any provider in one form. Finish reason, usage and cost are in the last frame. */
class NativeStream implements StreamEncoder {
  readonly #context: ReplyContext
  /** The beginning of every frame. */
  readonly #head: string

  constructor(context: ReplyContext) {
    this.#context = context
    const head = JSON.stringify({
      id: context.requestId,
      object: 'chat.completion.chunk',
      created: context.created,
      model: context.model,
      provider: context.provider,
    })
    this.#head = `data: ${head.slice(0, -1)},"choices":[`
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): string {
    let frames = ''
    for (const event of events) {
      if (event.type !== 'delta') continue
      const delta = toDelta(event)
      if (delta === undefined) continue
      frames += `${this.#head}{"index":${event.index},"delta":${JSON.stringify(delta)},"finish_reason":null}]}\n\n`
    }
    return frames
  }

  finish(end: StreamEnd): string {
    const choice = `{"index":0,"delta":{},"finish_reason":${JSON.stringify(end.finishReason)}}`
    const tail = JSON.stringify(toNativeUsage(this.#context, end.bill)).slice(1)
    return `${this.#head}${choice}],${tail}\n\ndata: [DONE]\n\n`
  }
}

/** undefined: the event has nothing that is sent before the last frame. */
function toDelta(event: StreamEvent & { type: 'delta' }): JsonObject | undefined {
  const delta: JsonObject = {}
  if (event.role !== undefined) delta.role = event.role
  if (event.content !== undefined) delta.content = event.content
  if (event.reasoning !== undefined) delta.reasoning = event.reasoning
  if (event.reasoningDetails !== undefined) {
    delta.reasoning_details = markDirect(event.reasoningDetails) as unknown as JsonObject[]
  }
  if (event.refusal !== undefined) delta.refusal = event.refusal
  if (event.toolCalls !== undefined) delta.tool_calls = event.toolCalls as unknown as JsonObject[]
  for (const _ in delta) return delta
  return undefined
}
