import type { JsonObject } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { KeptText } from '../../../stream/kept-text.ts'
import { packReasoning } from '../wire/carried-reasoning.ts'

/** An event of the stream. It gets its number later. */
export type WireEvent = JsonObject & { readonly type: string }

/** `incomplete`: the answer failed before the item was whole. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** An item of the output that is being written. Each step returns its events. */
export interface OpenItem {
  readonly index: number
  open(): WireEvent[]
  close(): WireEvent[]
  /** The item as it is now. */
  toItem(status: ItemStatus): JsonObject
}

export abstract class BaseItem implements OpenItem {
  readonly index: number
  protected readonly id: string

  constructor(index: number, id: string) {
    this.index = index
    this.id = id
  }

  abstract toItem(status: ItemStatus): JsonObject

  open(): WireEvent[] {
    return [
      { type: 'response.output_item.added', output_index: this.index, item: this.toItem('in_progress') },
    ]
  }

  close(): WireEvent[] {
    return [{ type: 'response.output_item.done', output_index: this.index, item: this.toItem('completed') }]
  }

  protected at(type: string, fields: JsonObject): WireEvent {
    return { type, item_id: this.id, output_index: this.index, ...fields }
  }
}

type PartKind = 'output_text' | 'refusal'

/** Models write one. */
const MAX_PARTS = 1_024

/** A message of text and refusals, which are its parts. */
export class MessageItem extends BaseItem {
  readonly #parts: Part[] = []

  addText(kind: PartKind, text: string): WireEvent[] {
    const events: WireEvent[] = []
    let part = this.#parts.at(-1)
    if (part?.kind !== kind) {
      events.push(...this.#closePart())
      if (this.#parts.length === MAX_PARTS) throw new Error(`a message has more than ${MAX_PARTS} parts`)
      part = { kind, text: new KeptText() }
      this.#parts.push(part)
      events.push(this.#atPart('response.content_part.added', { part: toPart(part) }))
    }
    part.text.add(text)
    const delta: WireEvent = {
      type: `response.${kind}.delta`,
      item_id: this.id,
      output_index: this.index,
      content_index: this.#parts.length - 1,
      delta: text,
    }
    if (kind === 'output_text') delta.logprobs = []
    events.push(delta)
    return events
  }

  override close(): WireEvent[] {
    return [...this.#closePart(), ...super.close()]
  }

  toItem(status: ItemStatus): JsonObject {
    return { type: 'message', id: this.id, status, role: 'assistant', content: this.#parts.map(toPart) }
  }

  #closePart(): WireEvent[] {
    const part = this.#parts.at(-1)
    if (part === undefined) return []
    const text = part.text.toString()
    const whole = part.kind === 'output_text' ? { text, logprobs: [] } : { refusal: text }
    return [
      this.#atPart(`response.${part.kind}.done`, whole),
      this.#atPart('response.content_part.done', { part: toPart(part) }),
    ]
  }

  #atPart(type: string, fields: JsonObject): WireEvent {
    return this.at(type, { content_index: this.#parts.length - 1, ...fields })
  }
}

interface Part {
  readonly kind: PartKind
  readonly text: KeptText
}

function toPart({ kind, text }: Part): JsonObject {
  return kind === 'refusal'
    ? { type: kind, refusal: text.toString() }
    : { type: kind, text: text.toString(), annotations: [], logprobs: [] }
}

/** Reasoning. Its text is the summary, and state that must come back is the encrypted content. */
export class ReasoningItem extends BaseItem {
  readonly #text = new KeptText()
  readonly #details: ReasoningDetail[] = []
  /** The packed details, made once the item is complete: packing takes longest, and the answer repeats all of its items. */
  #packed: { readonly text: string | undefined } | undefined

  addText(text: string): WireEvent[] {
    const events: WireEvent[] = []
    if (this.#text.length === 0) {
      const part = { type: 'summary_text', text: '' }
      events.push(this.at('response.reasoning_summary_part.added', { summary_index: 0, part }))
    }
    this.#text.add(text)
    events.push(this.at('response.reasoning_summary_text.delta', { summary_index: 0, delta: text }))
    return events
  }

  keep(details: readonly ReasoningDetail[]): void {
    this.#packed = undefined
    this.#details.push(...details)
  }

  override close(): WireEvent[] {
    if (this.#text.length === 0) return super.close()
    const [part] = this.#summary()
    return [
      this.at('response.reasoning_summary_text.done', { summary_index: 0, text: this.#text.toString() }),
      this.at('response.reasoning_summary_part.done', { summary_index: 0, part }),
      ...super.close(),
    ]
  }

  toItem(status: ItemStatus): JsonObject {
    const packed = this.#pack(status)
    return {
      type: 'reasoning',
      id: this.id,
      status,
      summary: this.#summary(),
      ...(packed === undefined ? {} : { encrypted_content: packed }),
    }
  }

  #pack(status: ItemStatus): string | undefined {
    if (this.#packed !== undefined) return this.#packed.text
    const text = packReasoning(this.#details)
    if (status === 'completed') this.#packed = { text }
    return text
  }

  #summary(): JsonObject[] {
    return this.#text.length === 0 ? [] : [{ type: 'summary_text', text: this.#text.toString() }]
  }
}
