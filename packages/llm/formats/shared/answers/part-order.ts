import type { ReplyPart } from '../../../reply/chat-reply.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'

/** The usual order of an answer. */
const RANKS: Readonly<Record<ReplyPart['type'], number>> = { reasoning: 0, text: 1, call: 2 }

/** Collects the parts of an answer in the order that its provider gives them. */
export class PartOrder {
  readonly #parts: ReplyPart[] = []
  #isUsual = true

  addText(text: string): void {
    if (text === '') return
    const last = this.#parts.at(-1)
    if (last?.type === 'text') this.#parts[this.#parts.length - 1] = { type: 'text', text: last.text + text }
    else this.#add({ type: 'text', text })
  }

  addReasoning(text: string, detail: ReasoningDetail | undefined): void {
    if (detail !== undefined) {
      this.#add({ type: 'reasoning', text, detail })
      return
    }
    if (text === '') return
    const last = this.#parts.at(-1)
    const isMore = last?.type === 'reasoning' && last.detail === undefined
    if (isMore) this.#parts[this.#parts.length - 1] = { type: 'reasoning', text: last.text + text }
    else this.#add({ type: 'reasoning', text })
  }

  addCall(call: number): void {
    this.#add({ type: 'call', call })
  }

  /** undefined: the order is the usual one; see ReplyChoice. */
  get parts(): readonly ReplyPart[] | undefined {
    return this.#isUsual ? undefined : this.#parts
  }

  #add(part: ReplyPart): void {
    const last = this.#parts.at(-1)
    if (last !== undefined && RANKS[part.type] < RANKS[last.type]) this.#isUsual = false
    this.#parts.push(part)
  }
}
