import type { ReplyMessage } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { withBodyFindings } from '../../shared/body-findings.ts'
import { toEnvelope } from '../../shared/error-envelope.ts'
import type { PlainAnswer } from '../../shared/plain-answer.ts'
import type { ServedFault } from '../../shared/served-fault.ts'
import type {
  Answered,
  ChatServer,
  StreamEncoder,
  StreamEnd,
  UpstreamEvent,
} from '../../shared/server-format.ts'
import { type EventEncoder, encodeReply, openEventEncoder } from './encode-events.ts'
import { findPassedOnResponses, parseResponses } from './parse-chat.ts'
import type { ResponseHead } from './response-head.ts'

/**
 * `{prefix}/v1/responses`: bytes of a provider that speaks the format pass through, anything else is written in it. No
 * state is kept: an answer's id opens nothing.
 */
export const responsesServer: ChatServer = {
  id: 'openai-responses',
  parse: (body, context) => withBodyFindings(parseResponses(body), body, context, findPassedOnResponses),
  encodeReply: toReply,
  openStream: answered =>
    answered.format === 'openai-responses' ? new PassedStream(answered) : new TranslatedStream(answered),
  encodeStreamFault: (fault, requestId, baseUrl) => {
    const head = { id: `resp_${requestId}`, created: 0, model: '', ...NOTHING_REPEATED }
    return encodeFault(openEventEncoder(head), fault, requestId, baseUrl)
  },
}

const NOTHING_REPEATED: Pick<ResponseHead, 'echo' | 'toolKinds'> = {
  echo: {
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
  },
  toolKinds: new Map(),
}

function toHead({ requestId, created, model, call }: Answered): ResponseHead {
  return { id: `resp_${requestId}`, created, model, ...(call.repeated ?? NOTHING_REPEATED) }
}

function toReply(answered: Answered, answer: PlainAnswer, bill: Bill): Buffer {
  if (answered.format === 'openai-responses') return answer.bytes
  const [choice] = answer.reply.choices
  const message: ReplyMessage = choice?.message ?? { role: 'assistant', content: null }
  const reply = encodeReply(toHead(answered), message, choice?.finishReason ?? 'stop', bill.usage)
  return Buffer.from(JSON.stringify(reply))
}

class TranslatedStream implements StreamEncoder {
  readonly #events: EventEncoder

  constructor(answered: Answered) {
    this.#events = openEventEncoder(toHead(answered))
  }

  canPass(): boolean {
    return false
  }

  encode(events: readonly StreamEvent[]): string {
    let frames = ''
    for (const event of events) {
      // What ends an answer waits for the bill.
      if (event.type === 'delta') frames += toFrames(this.#events.add(event))
    }
    return frames
  }

  finish({ finishReason, bill }: StreamEnd): string {
    return toFrames(this.#events.finish(finishReason, bill.usage))
  }

  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): string {
    return encodeFault(this.#events, fault, requestId, baseUrl)
  }
}

const NEWLINE = 10
/** In these stands what the gateway must see: an item, the response as a whole, or an error. */
const SEEN = ['"response":', '"item":', '"error"', '[DONE]']

class PassedStream implements StreamEncoder {
  readonly #answered: Answered
  #last: Uint8Array | undefined

  constructor(answered: Answered) {
    this.#answered = answered
  }

  canPass(chunk: Buffer): boolean {
    const { length } = chunk
    if (length < 2 || chunk[length - 1] !== NEWLINE || chunk[length - 2] !== NEWLINE) return false
    const text = chunk.toString('latin1')
    return !SEEN.some(mark => text.includes(mark))
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    if (!events.some(({ type }) => type === 'end')) return event.raw
    // The record is written before the last event goes out.
    this.#last = event.raw
    return ''
  }

  finish(): string {
    return this.#last === undefined ? '' : Buffer.from(this.#last).toString('utf8')
  }

  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): string {
    return encodeFault(openEventEncoder(toHead(this.#answered)), fault, requestId, baseUrl)
  }
}

/**
 * Both ways in which clients learn of a failure: `response.failed`, whose codes are few, and `error` with ours, which the
 * official client raises.
 */
function encodeFault(events: EventEncoder, fault: ServedFault, requestId: string, baseUrl: string): string {
  const { code, message } = fault
  const isLimit = code === 'provider_overloaded' || fault.status === 429
  const failed = events.fail({ code: isLimit ? 'rate_limit_exceeded' : 'server_error', message })
  const last = Number(failed.at(-1)?.sequence_number ?? 0)
  const { error } = toEnvelope(fault, requestId, baseUrl)
  const told = {
    type: 'error',
    sequence_number: last + 1,
    code,
    message,
    param: fault.param ?? null,
    error: { ...error },
  }
  return toFrames([...failed, told])
}

function toFrames(events: readonly { readonly type: string }[]): string {
  let frames = ''
  for (const event of events) frames += `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  return frames
}
