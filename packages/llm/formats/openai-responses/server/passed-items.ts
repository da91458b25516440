import type { JsonObject } from '../../../json/json-value.ts'
import { toIndex, toObject, toText } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { MessageItem, type OpenItem } from './open-items.ts'

/** Characters that are kept of one stream. A text of 128,000 tokens has half as many; images may have more. */
const MAX_KEPT = 1024 * 1024

/**
 * The items that a passed stream has shown, which the last event repeats. Kept for a stream that a limit may cut, because the
 * gateway then writes that event. A call that is cut off is left out, because nobody can carry it out.
 */
export class PassedItems {
  #done: OpenItem[] = []
  #message: PassedMessage | undefined
  #size = 0

  /** The message that has not ended. */
  get current(): MessageItem | undefined {
    return this.#message
  }

  get all(): OpenItem[] {
    return this.#message === undefined ? this.#done : [...this.#done, this.#message]
  }

  note(events: readonly StreamEvent[], data: string): void {
    if (this.#size > MAX_KEPT) return
    if (data.includes('"item"')) this.#noteItem(parseObject(data) ?? {}, data.length)
    for (const event of events) {
      if (event.type !== 'delta') continue
      this.#addText('output_text', event.content)
      this.#addText('refusal', event.refusal)
    }
    if (this.#size <= MAX_KEPT) return
    this.#done = []
    this.#message = undefined
  }

  #noteItem({ type, output_index: place, item: given }: JsonObject, size: number): void {
    const item = toObject(given)
    if (item === undefined) return
    const index = toIndex(place) ?? this.#done.length
    if (type === 'response.output_item.done') {
      this.#size += size
      this.#done.push(new DoneItem(index, item))
      if (this.#message?.index === index) this.#message = undefined
    } else if (item.type === 'message') this.#message = new PassedMessage(index, item)
  }

  #addText(kind: 'output_text' | 'refusal', text = ''): void {
    if (text === '' || this.#message === undefined) return
    this.#size += text.length
    this.#message.addText(kind, text)
  }
}

/** An item that has ended, as the provider sent it. */
class DoneItem implements OpenItem {
  readonly index: number
  readonly #item: JsonObject

  constructor(index: number, item: JsonObject) {
    this.index = index
    this.#item = item
  }

  open(): [] {
    return []
  }

  close(): [] {
    return []
  }

  toItem(): JsonObject {
    return this.#item
  }
}

/** A message that the provider began. If the gateway ends it, it is incomplete. */
class PassedMessage extends MessageItem {
  readonly #begun: JsonObject

  constructor(index: number, begun: JsonObject) {
    super(index, toText(begun.id) ?? '')
    this.#begun = begun
  }

  override toItem(): JsonObject {
    return { ...this.#begun, ...super.toItem('incomplete') }
  }
}
