import { encodeAwsEvent } from '../../../frames/aws-event-frame.ts'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject } from '../../../json/json-value.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { cacheWriteTokens, outputTokens } from '../../../usage/usage-sums.ts'
import { anthropicServer } from '../../anthropic-messages/server/server.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import type { ChatServer, ReplyContext } from '../../shared/server-format.ts'
import { openMessages } from './open-invoke.ts'
import { converseServer } from './server.ts'

/**
 * `{bedrock prefix}/model/{model}/invoke` with a body of Anthropic's: a request of Anthropic's format, whose answers are
 * theirs too. Bedrock itself is asked by Converse.
 */
export const invokeServer: ChatServer = {
  ...converseServer,
  id: 'anthropic-messages',
  open: (body, pathModel) => openMessages(body, pathModel, false),
  parse: anthropicServer.parse,
  encodeReply: anthropicServer.encodeReply,
  openStream: context => new ChunkEncoder(context),
}

/** `…/invoke-with-response-stream`: Anthropic's events in frames of AWS. */
export const invokeStreamServer: ChatServer = {
  ...invokeServer,
  open: (body, pathModel) => openMessages(body, pathModel, true),
}

class ChunkEncoder implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #events: StreamEncoder

  constructor(context: ReplyContext) {
    this.#context = context
    this.#events = anthropicServer.openStream(context)
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): Uint8Array {
    return toFrames(toText(this.#events.encode(events, event)), undefined)
  }

  finish(end: StreamEnd): Uint8Array {
    const metrics = toMetrics(end.bill, Math.round(this.#context.clock.elapsedMs()))
    return toFrames(toText(this.#events.finish(end)), metrics)
  }
}

function toText(frames: string | Uint8Array): string {
  return typeof frames === 'string' ? frames : Buffer.from(frames).toString('utf8')
}

const DATA = /^data: ?(.*)$/gm

/** Each event's JSON as a frame. `metrics` go with the last event of an answer. */
function toFrames(text: string, metrics: JsonObject | undefined): Uint8Array {
  const frames: Buffer[] = []
  for (const [, data = ''] of text.matchAll(DATA)) {
    const event = metrics === undefined ? undefined : withMetrics(data, metrics)
    frames.push(encodeAwsEvent('chunk', { bytes: Buffer.from(event ?? data).toString('base64') }))
  }
  return frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames)
}

function withMetrics(data: string, metrics: JsonObject): string | undefined {
  const event = toObject(JSON.parse(data) as Json)
  if (event?.type !== 'message_stop') return undefined
  return JSON.stringify({ ...event, 'amazon-bedrock-invocationMetrics': metrics })
}

function toMetrics({ usage }: Bill, latencyMs: number): JsonObject {
  return {
    inputTokenCount: usage.uncachedInput,
    outputTokenCount: outputTokens(usage),
    invocationLatency: latencyMs,
    cacheReadInputTokenCount: usage.cacheRead,
    cacheWriteInputTokenCount: cacheWriteTokens(usage),
  }
}
