import { encodeAwsEvent, encodeAwsException } from '../../../frames/aws-event-frame.ts'
import { countAwsEvents } from '../../../frames/aws-event-stream.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { PlainAnswer } from '../../shared/plain-answer.ts'
import type {
  Answered,
  ChatServer,
  StreamEncoder,
  StreamEnd,
  UpstreamEvent,
} from '../../shared/server-format.ts'
import { toStreamError, toStreamException } from './encode-error.ts'
import { encodeReply, toStopReason } from './encode-reply.ts'
import { ConverseEncoder, type ConverseEvent, toMetadata } from './encode-stream.ts'
import { parseRequest, parseStreamRequest } from './parse-request.ts'

/** `{bedrock prefix}/model/{model}/converse`: the same format is passed through, every other one is translated. */
export const converseServer: ChatServer = {
  id: 'bedrock-converse',
  parse: parseRequest,
  encodeReply: toReply,
  openStream: answered =>
    answered.format === 'bedrock-converse' ? new PassedStream(answered) : new TranslatedStream(answered),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    encodeAwsException(toStreamException(fault), toStreamError(fault, requestId, baseUrl)),
  streamType: 'application/vnd.amazon.eventstream',
  // The format has no comments, but every client passes over an event that it does not know.
  keepAlive: encodeAwsEvent('ping', {}),
  cutNote: encodeAwsEvent('budgetExceeded', {
    message: 'a limit of tokens or spend ended this answer',
    code: 'budget_exceeded',
  }),
}

/** The same as `…/converse-stream`: the path says that the answer is a stream. */
export const converseStreamServer: ChatServer = {
  ...converseServer,
  parse: parseStreamRequest,
}

function toReply(answered: Answered, answer: PlainAnswer, bill: Bill): Buffer {
  if (answered.format === 'bedrock-converse') return answer.bytes
  const reply = encodeReply({ ...answer.reply, usage: bill.usage }, latencyMs(answered))
  return Buffer.from(JSON.stringify(reply))
}

function latencyMs({ clock }: Answered): number {
  return Math.round(clock.elapsedMs())
}

/** What another format said, in this one's events. */
class TranslatedStream implements StreamEncoder {
  readonly #answered: Answered
  readonly #encoder = new ConverseEncoder()

  constructor(answered: Answered) {
    this.#answered = answered
  }

  canPass(): boolean {
    return false
  }

  encode(events: readonly StreamEvent[]): Uint8Array {
    const [first] = events
    // Nearly always one.
    if (events.length === 1 && first !== undefined) return toFrames(this.#encoder.encode(first))
    return toFrames(events.flatMap(event => this.#encoder.encode(event)))
  }

  finish({ finishReason, bill }: StreamEnd): Uint8Array {
    return toFrames(this.#encoder.finish(finishReason, bill.usage, latencyMs(this.#answered)))
  }
}

/** What the gateway has to see: how a stream begins and ends, how blocks do, calls, and errors. */
const READ = /messageSt|contentBlockSt|metadata|toolUse|xception/

/** The provider's own events, but for the last one, which waits for the record. */
class PassedStream implements StreamEncoder {
  readonly #answered: Answered
  #last: Uint8Array | undefined

  constructor(answered: Answered) {
    this.#answered = answered
  }

  /** Whole events that only continue a block. */
  canPass(chunk: Buffer): boolean {
    return countAwsEvents(chunk) > 0 && !READ.test(chunk.toString('latin1'))
  }

  countEvents(chunk: Buffer): number {
    return countAwsEvents(chunk)
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    if (events.some(({ type }) => type === 'error')) return ''
    if (!events.some(({ type }) => type === 'end')) return event.raw
    this.#last = event.raw
    return ''
  }

  finish({ isFinishSent, finishReason, bill }: StreamEnd): Uint8Array {
    if (this.#last !== undefined) return this.#last
    const stop = { type: 'messageStop', body: { stopReason: toStopReason(finishReason) } }
    const metadata = toMetadata(bill.usage, latencyMs(this.#answered))
    return toFrames(isFinishSent ? [metadata] : [stop, metadata])
  }
}

const NOTHING = new Uint8Array()

function toFrames(events: readonly ConverseEvent[]): Uint8Array {
  const [first] = events
  if (first === undefined) return NOTHING
  if (events.length === 1) return encodeAwsEvent(first.type, first.body)
  return Buffer.concat(events.map(({ type, body }) => encodeAwsEvent(type, body)))
}
