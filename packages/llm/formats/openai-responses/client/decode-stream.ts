import type { JsonObject } from '../../../json/json-value.ts'
import { toIndex, toObject, toObjects, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import { CallBudget } from '../../../reply/call-budget.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import type { DeltaEvent, StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import { withReportedCost } from '../../../usage/reported-cost.ts'
import type { Usage } from '../../../usage/usage.ts'
import { makeToolCallId, toReplyId } from '../../shared/answers/decode-message.ts'
import { decodeErrorBody } from '../../shared/errors/decode-error.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { withHosted } from '../../shared/tools/hosted-tools.ts'
import {
  decodeArguments,
  decodeCall,
  decodeFinish,
  decodeReasoningDetails,
  PARAGRAPH,
  withIndexes,
} from '../wire/decode-items.ts'
import { decodeUsage } from './decode-usage.ts'
import { HostedUses } from './hosted-uses.ts'
import { SentText } from './sent-text.ts'

type Events = readonly StreamEvent[]

const NOTHING: Events = []

export function openStream(target: Target): StreamDecoder {
  return new ResponseDecoder(target)
}

/** A tool call of the stream. `index`: its canonical number; `sent`: the arguments that were passed on so far. */
interface OpenCall {
  readonly index: number
  readonly sent: SentText
}

/** What a text, an item or a call takes besides its key, in bytes. */
const ENTRY_BYTES = 200

/** Decodes `response.*` events. Events of an unknown type are skipped: providers add types at any time. */
class ResponseDecoder implements StreamDecoder {
  private readonly target: Target
  private replyId = ''
  private readonly calls = new Map<string, OpenCall>()
  /** The text that was passed on so far, by the item and the part that it belongs to. */
  private readonly texts = new Map<string, SentText>()
  unsent = 0
  private lastReasoning: string | undefined
  /** The reasoning since the last call, which goes into the id of the next call. */
  private pending: ReasoningDetail[] = []
  /** The number of details so far. */
  private details = 0
  private readonly budget = new CallBudget()
  private readonly hosted: HostedUses

  constructor(target: Target) {
    this.target = target
    this.hosted = new HostedUses(target)
  }

  decode(data: string, event = ''): Events {
    if (data === '[DONE]') return NOTHING
    const frame = parseObject(data)
    if (frame === undefined) {
      const detail = `a frame of the stream is not a JSON object: ${data.slice(0, 200)}`
      return [{ type: 'error', error: { kind: 'interrupted', detail } }]
    }
    const type = toText(frame.type) ?? event
    const handler = HANDLERS.get(type)
    if (handler !== undefined) return handler(this, frame)
    return frame.error === undefined || frame.error === null ? NOTHING : this.fail(frame)
  }

  /** Tools that the provider ran so far, of a stream that breaks off: usage comes at the end. */
  partialUsage(): Usage | undefined {
    return withHosted(undefined, this.hosted.price())
  }

  begin(frame: JsonObject): Events {
    this.replyId = toReplyId(toObject(frame.response)?.id)
    return [{ type: 'delta', index: 0, role: 'assistant' }]
  }

  /** Passes on a piece of a text. */
  addText(field: 'content' | 'refusal' | 'reasoning', frame: JsonObject): Events {
    const text = toText(frame.delta)
    return text === undefined ? NOTHING : this.sendText(field, textKey(field, frame), text)
  }

  /** Passes on the rest of a complete text that came in no delta. */
  completeText(field: 'content' | 'refusal' | 'reasoning', key: string, whole: string | undefined): Events {
    if (whole === undefined) return NOTHING
    const rest = this.texts.get(key)?.restOf(whole) ?? whole
    return rest === '' ? NOTHING : this.sendText(field, key, rest)
  }

  private sendText(field: 'content' | 'refusal' | 'reasoning', key: string, text: string): Events {
    let sent = this.texts.get(key)
    if (sent === undefined) {
      sent = new SentText()
      this.texts.set(key, sent)
      this.unsent += ENTRY_BYTES + key.length
    }
    sent.add(text)
    if (field !== 'reasoning')
      return [field === 'content' ? delta({ content: text }) : delta({ refusal: text })]
    const isNext = this.lastReasoning !== undefined && this.lastReasoning !== key
    this.lastReasoning = key
    return [delta({ reasoning: isNext ? PARAGRAPH + text : text })]
  }

  addItem(frame: JsonObject): Events {
    const item = toObject(frame.item)
    if (item !== undefined) this.addHosted(item, itemKey(frame))
    // The input of a tool that takes free text comes when the call is complete.
    return item?.type === 'function_call' ? this.openCall(item, itemKey(frame)) : NOTHING
  }

  private addHosted(item: JsonObject, key: string): void {
    const kept = this.hosted.add(item, key)
    if (kept > 0) this.unsent += ENTRY_BYTES + kept
  }

  addArguments(frame: JsonObject): Events {
    const call = this.calls.get(itemKey(frame))
    const text = decodeArguments(frame.delta)
    if (call === undefined || text === '') return NOTHING
    call.sent.add(text)
    return [delta({ toolCalls: [{ index: call.index, function: { arguments: text } }] })]
  }

  completeArguments(key: string, whole: string): Events {
    const call = this.calls.get(key)
    const rest = call?.sent.restOf(whole) ?? ''
    if (call === undefined || rest === '') return NOTHING
    call.sent.add(rest)
    return [delta({ toolCalls: [{ index: call.index, function: { arguments: rest } }] })]
  }

  completeItem(item: JsonObject, key: string): Events {
    this.addHosted(item, key)
    if (item.type === 'message') return this.completeMessage(item, key)
    if (item.type === 'reasoning') return this.completeReasoning(item, key)
    const call = decodeCall(item)
    if (call === undefined) return NOTHING
    return [
      ...this.openCall(item, key),
      ...this.completeArguments(key, call.arguments === '' ? '{}' : call.arguments),
    ]
  }

  private completeMessage(item: JsonObject, key: string): Events {
    return toObjects(item.content).flatMap((part, at) =>
      part.type === 'refusal'
        ? this.completeText('refusal', `refusal ${key} ${at}`, toText(part.refusal))
        : this.completeText('content', `content ${key} ${at}`, toText(part.text)),
    )
  }

  private completeReasoning(item: JsonObject, key: string): Events {
    const events: StreamEvent[] = []
    for (const list of ['summary', 'content'] as const) {
      for (const [at, part] of toObjects(item[list]).entries()) {
        events.push(...this.completeText('reasoning', `${list} ${key} ${at}`, toText(part.text)))
      }
    }
    const details = decodeReasoningDetails(item, this.target.provider.id)
    if (details.length === 0) return events
    this.pending.push(...details)
    const reasoningDetails = withIndexes(details, this.details)
    this.details += details.length
    return [...events, delta({ reasoningDetails })]
  }

  /** The first fragment of a call; nothing if the call is open already. */
  private openCall(item: JsonObject, key: string): Events {
    const name = toText(item.name)
    if (name === undefined || this.calls.has(key)) return NOTHING
    const index = this.calls.size
    this.calls.set(key, { index, sent: new SentText() })
    this.unsent += ENTRY_BYTES + key.length
    const id = toText(item.call_id) ?? toText(item.id) ?? makeToolCallId(this.replyId, 0, index, name)
    const packed = packToolCallId(id, this.budget.take(this.pending))
    this.pending = []
    return [
      delta({ toolCalls: [{ index, id: packed, type: 'function', function: { name, arguments: '' } }] }),
    ]
  }

  finish(frame: JsonObject): Events {
    const response = toObject(frame.response) ?? {}
    const events: StreamEvent[] = []
    if (this.texts.size === 0 && this.calls.size === 0) {
      // No deltas came, so the whole output is in this event.
      for (const [at, item] of toObjects(response.output).entries())
        events.push(...this.completeItem(item, String(at)))
    }
    events.push(delta({ finishReason: decodeFinish(response, this.calls.size > 0) }))
    const usage = this.findUsage(response)
    if (usage !== undefined) events.push({ type: 'usage', usage })
    events.push({ type: 'end' })
    return events
  }

  private findUsage(response: JsonObject): Usage | undefined {
    const usage = withHosted(decodeUsage(response), this.hosted.price(response))
    return withReportedCost(usage, response.usage, this.target)
  }

  fail(frame: JsonObject): Events {
    const response = toObject(frame.response)
    const error = decodeErrorBody(
      undefined,
      {},
      { error: response?.error ?? frame.error ?? { ...frame, type: null } },
    )
    const usage = response === undefined ? undefined : this.findUsage(response)
    // The provider charges for a failed response too.
    return usage === undefined
      ? [{ type: 'error', error }]
      : [
          { type: 'usage', usage },
          { type: 'error', error },
        ]
  }
}

type Handler = (decoder: ResponseDecoder, frame: JsonObject) => Events

const HANDLERS: ReadonlyMap<string, Handler> = new Map(
  Object.entries<Handler>({
    'response.created': (decoder, frame) => decoder.begin(frame),
    'response.output_item.added': (decoder, frame) => decoder.addItem(frame),
    'response.output_item.done': (decoder, frame) =>
      decoder.completeItem(toObject(frame.item) ?? {}, itemKey(frame)),
    'response.output_text.delta': (decoder, frame) => decoder.addText('content', frame),
    'response.output_text.done': (decoder, frame) =>
      decoder.completeText('content', textKey('content', frame), toText(frame.text)),
    'response.refusal.delta': (decoder, frame) => decoder.addText('refusal', frame),
    'response.refusal.done': (decoder, frame) =>
      decoder.completeText('refusal', textKey('refusal', frame), toText(frame.refusal)),
    'response.reasoning_summary_text.delta': (decoder, frame) => decoder.addText('reasoning', frame),
    'response.reasoning_text.delta': (decoder, frame) => decoder.addText('reasoning', frame),
    'response.function_call_arguments.delta': (decoder, frame) => decoder.addArguments(frame),
    'response.function_call_arguments.done': (decoder, frame) =>
      decoder.completeArguments(itemKey(frame), decodeArguments(frame.arguments)),
    'response.completed': (decoder, frame) => decoder.finish(frame),
    'response.incomplete': (decoder, frame) => decoder.finish(frame),
    'response.failed': (decoder, frame) => decoder.fail(frame),
    'response.cancelled': (decoder, frame) => decoder.fail(frame),
    error: (decoder, frame) => decoder.fail(frame),
  }),
)

/** Identifies an item by its place in the output, or by its id if the event has no place. */
function itemKey(frame: JsonObject): string {
  return typeof frame.output_index === 'number' ? String(frame.output_index) : (toText(frame.item_id) ?? '')
}

function textKey(field: 'content' | 'refusal' | 'reasoning', frame: JsonObject): string {
  const list = field === 'reasoning' && frame.summary_index !== undefined ? 'summary' : 'content'
  const part = toIndex(frame.summary_index ?? frame.content_index) ?? 0
  return `${field === 'refusal' ? 'refusal' : list} ${itemKey(frame)} ${part}`
}

function delta(fields: Omit<DeltaEvent, 'type' | 'index'>): DeltaEvent {
  return { type: 'delta', index: 0, ...fields }
}
