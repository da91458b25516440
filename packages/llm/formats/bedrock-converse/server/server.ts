import { encodeAwsEvent, encodeAwsException } from '../../../frames/aws-event-frame.ts'
import { countAwsEvents, measureAwsEvents } from '../../../frames/aws-event-stream.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import type { ChatServer, ReplyContext } from '../../shared/server-format.ts'
import { toStreamError, toStreamException } from './encode-error.ts'
import { encodeReply, toStopReason } from './encode-reply.ts'
import { ConverseEncoder, type ConverseEvent, toMetadata } from './encode-stream.ts'
import { parseRequest, parseStreamRequest } from './parse-request.ts'

/** `{bedrock prefix}/model/{model}/converse`. Answers of Bedrock's format pass through; all others are translated. */
export const converseServer: ChatServer = {
  id: 'bedrock-converse',
  parse: parseRequest,
  encodeReply: toReply,
  openStream: (context, mayBeCut = false) =>
    context.format === 'bedrock-converse'
      ? new PassedStream(context, mayBeCut)
      : new TranslatedStream(context),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    encodeAwsException(toStreamException(fault), toStreamError(fault, requestId, baseUrl)),
  streamType: 'application/vnd.amazon.eventstream',
  // The format has no comments, but clients ignore unknown events.
  keepAlive: encodeAwsEvent('ping', {}),
  cutNote: encodeAwsEvent('budgetExceeded', {
    message: 'a limit of tokens or spend ended this answer',
    code: 'budget_exceeded',
  }),
}

/** The server side of `…/converse-stream`. */
export const converseStreamServer: ChatServer = {
  ...converseServer,
  parse: parseStreamRequest,
}

function toReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  if (context.format === 'bedrock-converse') return answer.bytes
  const reply = encodeReply({ ...answer.reply, usage: bill.usage }, latencyMs(context))
  return toSentJson(reply)
}

function latencyMs({ clock }: ReplyContext): number {
  return Math.round(clock.elapsedMs())
}

/** Encodes the events of another format's stream. */
class TranslatedStream implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #encoder = new ConverseEncoder()

  constructor(context: ReplyContext) {
    this.#context = context
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): Uint8Array {
    const [first] = events
    // Nearly always there is one.
    if (events.length === 1 && first !== undefined) return toFrames(this.#encoder.encode(first))
    return toFrames(events.flatMap(event => this.#encoder.encode(event)))
  }

  finish({ finishReason, bill }: StreamEnd): Uint8Array {
    return toFrames(this.#encoder.finish(finishReason, bill.usage, latencyMs(this.#context)))
  }
}

/** Matches the events that the gateway must read: begin and end of the stream and of blocks, calls, and errors. */
const MUST_READ = /messageSt|contentBlockSt|metadata|toolUse|xception/

/** Passes the provider's own events on, except the last: it is sent after the request is recorded. */
class PassedStream implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #mayBeCut: boolean
  #last: Uint8Array | undefined
  /** The index of the block that has begun and not ended. Only known of a stream that may be cut. */
  #open: number | undefined

  constructor(context: ReplyContext, mayBeCut: boolean) {
    this.#context = context
    this.#mayBeCut = mayBeCut
  }

  /** The events that only continue a block. */
  measurePassable(chunk: Buffer): number {
    // A block of text has no event for its start: any of its events may be the first one.
    if (this.#mayBeCut) return 0
    const mark = chunk.toString('latin1').search(MUST_READ)
    return measureAwsEvents(chunk, mark === -1 ? chunk.length : mark)
  }

  countEvents(chunk: Buffer): number {
    return countAwsEvents(chunk)
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    if (events.some(({ type }) => type === 'error')) return ''
    if (this.#mayBeCut) this.#noteBlock(parseObject(event.data))
    if (!events.some(({ type }) => type === 'end')) return event.raw
    this.#last = event.raw
    return ''
  }

  /** Only an event that ends a block has neither a start nor a piece of it. */
  #noteBlock({ contentBlockIndex: index, start, delta }: JsonObject = {}): void {
    if (typeof index !== 'number') return
    this.#open = start === undefined && delta === undefined ? undefined : index
  }

  /** Without a finish reason a limit ended the answer, mostly within a block. */
  finish({ isFinishSent, finishReason, bill }: StreamEnd): Uint8Array {
    if (this.#last !== undefined) return this.#last
    const stop = { type: 'messageStop', body: { stopReason: toStopReason(finishReason, undefined) } }
    const metadata = toMetadata(bill.usage, latencyMs(this.#context))
    if (isFinishSent) return toFrames([metadata])
    const block = { type: 'contentBlockStop', body: { contentBlockIndex: this.#open } }
    return toFrames(this.#open === undefined ? [stop, metadata] : [block, stop, metadata])
  }
}

const NOTHING = new Uint8Array()

function toFrames(events: readonly ConverseEvent[]): Uint8Array {
  const [first] = events
  if (first === undefined) return NOTHING
  if (events.length === 1) return encodeAwsEvent(first.type, first.body)
  return Buffer.concat(events.map(({ type, body }) => encodeAwsEvent(type, body)))
}
