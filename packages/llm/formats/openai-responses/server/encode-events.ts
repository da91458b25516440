import type { JsonObject } from '../../../json/json-value.ts'
import type { FinishReason, ReplyMessage } from '../../../reply/chat-reply.ts'
import type { DeltaEvent, ToolCallDelta } from '../../../stream/stream-event.ts'
import type { Usage } from '../../../usage/usage.ts'
import { packCall } from '../wire/minted-items.ts'
import { CallItem } from './call-item.ts'
import { MessageItem, type OpenItem, ReasoningItem, type WireEvent } from './open-items.ts'
import { encodeResponse, type ResponseHead, type ResponseState } from './response-head.ts'

/** The items of one answer, all of which its last event repeats. Models write some dozens, and at most 512 calls. */
const MAX_ITEMS = 2_048

/** Writes a stream in this format. Each method returns the events that it adds, with their numbers. */
export interface EventEncoder {
  add(delta: DeltaEvent): WireEvent[]
  finish(reason: FinishReason, usage: Usage): WireEvent[]
  fail(error: { readonly code: string; readonly message: string }): WireEvent[]
}

/** `next`: the number of the next event of a stream that another program began. Absent: the stream begins here. */
export function openEventEncoder(head: ResponseHead, next?: number): EventEncoder {
  return new ResponseWriter(head, next)
}

/** A complete answer: the response that the last event of its stream would contain. */
export function encodeReply(
  head: ResponseHead,
  message: ReplyMessage,
  reason: FinishReason,
  usage: Usage,
): JsonObject {
  const writer = new ResponseWriter(head)
  const add = (fields: Omit<DeltaEvent, 'type' | 'index'>): unknown =>
    writer.add({ type: 'delta', index: 0, ...fields })
  if (message.reasoning !== undefined) add({ reasoning: message.reasoning })
  if (message.reasoning_details !== undefined) add({ reasoningDetails: message.reasoning_details })
  if (message.content !== null && message.content !== '') add({ content: message.content })
  if (message.refusal !== undefined) add({ refusal: message.refusal })
  const calls = message.tool_calls?.map((call, index): ToolCallDelta => ({ ...call, index }))
  if (calls !== undefined) add({ toolCalls: calls })
  return writer.finish(reason, usage).at(-1)?.response as JsonObject
}

/** How the ids of calls begin, by the kind of the tool. */
const CALL_PREFIXES = { function: 'fc', custom: 'ctc', local_shell: 'lsh', tool_search: 'tsc' } as const

class ResponseWriter implements EventEncoder {
  readonly #head: ResponseHead
  #number: number
  #hasBegun: boolean
  /** All items so far. Items that are not closed yet still change. */
  readonly #items: OpenItem[] = []
  #current: MessageItem | ReasoningItem | undefined
  readonly #calls = new Map<number, CallItem>()

  constructor(head: ResponseHead, next?: number) {
    this.#head = head
    this.#number = next ?? 0
    this.#hasBegun = next !== undefined
  }

  add(delta: DeltaEvent): WireEvent[] {
    const events = this.#begin()
    if (delta.index !== 0) return this.#count(events)
    if (delta.reasoning !== undefined)
      events.push(...this.#reason(item => item.addText(delta.reasoning ?? '')))
    if (delta.reasoningDetails !== undefined) {
      const details = delta.reasoningDetails
      events.push(
        ...this.#reason(item => {
          item.keep(details)
          return []
        }),
      )
    }
    if (delta.content !== undefined && delta.content !== '')
      events.push(...this.#addText('output_text', delta.content))
    if (delta.refusal !== undefined && delta.refusal !== '')
      events.push(...this.#addText('refusal', delta.refusal))
    for (const call of delta.toolCalls ?? []) events.push(...this.#call(call))
    return this.#count(events)
  }

  finish(reason: FinishReason, usage: Usage): WireEvent[] {
    const events = [...this.#begin(), ...this.#closeAll()]
    const incomplete =
      reason === 'length' ? 'max_output_tokens' : reason === 'content_filter' ? 'content_filter' : undefined
    const status = incomplete === undefined ? 'completed' : 'incomplete'
    const response = this.#response({ status, usage, ...(incomplete === undefined ? {} : { incomplete }) })
    events.push({ type: `response.${status}`, response })
    return this.#count(events)
  }

  fail(error: { readonly code: string; readonly message: string }): WireEvent[] {
    return this.#count([
      ...this.#begin(),
      { type: 'response.failed', response: this.#response({ status: 'failed', error }) },
    ])
  }

  #begin(): WireEvent[] {
    if (this.#hasBegun) return []
    this.#hasBegun = true
    const response = this.#response({ status: 'in_progress' })
    return [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]
  }

  #response(state: Omit<ResponseState, 'output'>): JsonObject {
    const open = new Set<OpenItem | undefined>([this.#current, ...this.#calls.values()])
    const output = this.#items.map(item => item.toItem(open.has(item) ? 'incomplete' : 'completed'))
    return encodeResponse(this.#head, { ...state, output })
  }

  #reason(write: (item: ReasoningItem) => WireEvent[]): WireEvent[] {
    if (this.#current instanceof ReasoningItem) return write(this.#current)
    const item = new ReasoningItem(this.#items.length, this.#idOf('rs'))
    return [...this.#open(item), ...write(item)]
  }

  #addText(kind: 'output_text' | 'refusal', text: string): WireEvent[] {
    if (this.#current instanceof MessageItem) return this.#current.addText(kind, text)
    const item = new MessageItem(this.#items.length, this.#idOf('msg'))
    return [...this.#open(item), ...item.addText(kind, text)]
  }

  #open(item: MessageItem | ReasoningItem): WireEvent[] {
    if (this.#items.length >= MAX_ITEMS) throw new Error(`the answer has more than ${MAX_ITEMS} items`)
    const events = this.#current?.close() ?? []
    this.#current = item
    this.#items.push(item)
    return [...events, ...item.open()]
  }

  /** Calls stay open until the end, because some providers send pieces of several calls in turn. */
  #call({ index, id, function: fn }: ToolCallDelta): WireEvent[] {
    const known = this.#calls.get(index)
    if (known !== undefined) return known.addArguments(fn?.arguments ?? '')
    const name = fn?.name ?? ''
    const tool = this.#head.calledTools.get(name) ?? { kind: 'function', name }
    const callId = id ?? this.#idOf('call')
    const plain = this.#idOf(CALL_PREFIXES[tool.kind])
    const isReferred = this.#head.mayBeReferred === true
    const call = { callId, name, arguments: fn?.arguments ?? '' }
    const item = new CallItem(this.#items.length, isReferred ? packCall(plain, call) : plain, {
      callId,
      tool,
    })
    const events = this.#current?.close() ?? []
    this.#current = undefined
    this.#calls.set(index, item)
    this.#items.push(item)
    return [...events, ...item.open(), ...item.addArguments(fn?.arguments ?? '')]
  }

  #closeAll(): WireEvent[] {
    const events = this.#current?.close() ?? []
    this.#current = undefined
    for (const call of this.#calls.values()) events.push(...call.close())
    this.#calls.clear()
    return events
  }

  #idOf(prefix: string): string {
    return `${prefix}_${this.#head.id.replace(/^resp_/, '')}_${this.#items.length}`
  }

  #count(events: WireEvent[]): WireEvent[] {
    for (const event of events) event.sequence_number = this.#number++
    return events
  }
}
