import { EVENT_BOUNDS } from '../../../json/body-bounds.ts'
import type { JsonObject } from '../../../json/json-value.ts'
import { toIndex, toObject, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import { PartCounter } from '../../../json/part-counter.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { MessageItem, type OpenItem, type WireEvent } from './open-items.ts'

/** What is kept of one stream, in bytes. A text of 128,000 tokens has half as many; images may have more. */
const MAX_KEPT = 1024 * 1024
/** What an item takes besides its JSON. */
const ENTRY_BYTES = 200
/** The values of all items: they are parsed at once, as those of one event are. */
const MAX_PARTS = EVENT_BOUNDS.maxParts

/**
 * The items that a passed stream has shown, which the last event repeats. Kept for a stream that a limit may cut, because the
 * gateway then writes that event. A call that is cut off is left out, because nobody can carry it out.
 *
 * They are kept as JSON, because parsed values take up to 24 times as much.
 */
export class PassedItems {
  #done: OpenItem[] = []
  #message: PassedMessage | undefined
  #doneBytes = 0
  readonly #parts = new PartCounter()
  #isFull = false

  /** The message that has not ended. */
  get current(): MessageItem | undefined {
    return this.#message
  }

  get all(): OpenItem[] {
    return this.#message === undefined ? this.#done : [...this.#done, this.#message]
  }

  /** About how many bytes are kept, without the texts of the message that has not ended: events carried those. */
  get kept(): number {
    return this.#doneBytes + (this.#message?.begunBytes ?? 0)
  }

  note(events: readonly StreamEvent[], data: string): void {
    if (this.#isFull) return
    if (data.includes('"item"')) this.#noteItem(parseObject(data) ?? {})
    for (const event of events) {
      if (event.type !== 'delta') continue
      this.#addText('output_text', event.content)
      this.#addText('refusal', event.refusal)
    }
    this.#isFull = this.kept + (this.#message?.textLength ?? 0) > MAX_KEPT || this.#parts.count > MAX_PARTS
    if (!this.#isFull) return
    this.#done = []
    this.#doneBytes = 0
    this.#message = undefined
  }

  #noteItem({ type, output_index: place, item: given }: JsonObject): void {
    const item = toObject(given)
    if (item === undefined) return
    const isDone = type === 'response.output_item.done'
    if (!isDone && item.type !== 'message') return
    const index = toIndex(place) ?? this.#done.length
    const json = JSON.stringify(item)
    this.#parts.add(json, 0, json.length)
    if (isDone) {
      this.#doneBytes += ENTRY_BYTES + json.length
      this.#done.push(new DoneItem(index, json))
      if (this.#message?.index === index) this.#message = undefined
    } else this.#message = new PassedMessage(index, toText(item.id) ?? '', json)
  }

  #addText(kind: 'output_text' | 'refusal', text = ''): void {
    if (text !== '') this.#message?.addText(kind, text)
  }
}

/** An item that has ended, as the provider sent it. */
class DoneItem implements OpenItem {
  readonly index: number
  readonly #json: string

  constructor(index: number, json: string) {
    this.index = index
    this.#json = json
  }

  open(): [] {
    return []
  }

  close(): [] {
    return []
  }

  toItem(): JsonObject {
    return JSON.parse(this.#json) as JsonObject
  }
}

/** A message that the provider began. If the gateway ends it, it is incomplete. */
class PassedMessage extends MessageItem {
  readonly #begun: string
  textLength = 0

  constructor(index: number, id: string, begun: string) {
    super(index, id)
    this.#begun = begun
  }

  /** About how many bytes it takes besides its texts. */
  get begunBytes(): number {
    return ENTRY_BYTES + this.#begun.length
  }

  override addText(kind: 'output_text' | 'refusal', text: string): WireEvent[] {
    this.textLength += text.length
    return super.addText(kind, text)
  }

  override toItem(): JsonObject {
    return { ...(JSON.parse(this.#begun) as JsonObject), ...super.toItem('incomplete') }
  }
}
