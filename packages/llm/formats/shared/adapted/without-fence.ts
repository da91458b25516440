import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { DeltaEvent, StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import type { ClientFormat } from '../client-format.ts'

/**
 * Returns the format with answers that stand in no code fence of Markdown. For structured output that the model is only told to
 * give: many models fence their JSON nevertheless, and callers parse the whole content.
 */
export function withoutFence(format: ClientFormat): ClientFormat {
  return {
    ...format,
    decodeReply: (body, target) => unfenceReply(format.decodeReply(body, target)),
    openStream: target => new UnfencedDecoder(format.openStream(target)),
  }
}

function unfenceReply(reply: ChatReply): ChatReply {
  const choices = reply.choices.map(choice => {
    const { content } = choice.message
    const unfenced = content === null ? content : unfence(content)
    if (unfenced === content) return choice
    // The parts have the content too.
    const { parts: _, ...rest } = choice
    return { ...rest, message: { ...choice.message, content: unfenced } }
  })
  return { ...reply, choices }
}

function unfence(content: string): string {
  const text = new UnfencedText()
  return text.add(content) + text.end()
}

class UnfencedDecoder implements StreamDecoder {
  readonly #decoder: StreamDecoder
  /** By choice. */
  readonly #texts = new Map<number, UnfencedText>()

  constructor(decoder: StreamDecoder) {
    this.#decoder = decoder
  }

  decode(data: string, event?: string): readonly StreamEvent[] {
    return this.#decoder.decode(data, event).flatMap(each => {
      if (each.type === 'delta') return this.#unfence(each)
      // A stream may end or fail without a finish reason.
      return each.type === 'usage' ? [each] : [...this.#endAll(), each]
    })
  }

  get unsent(): number {
    return this.#decoder.unsent ?? 0
  }

  partialUsage(): ReturnType<NonNullable<StreamDecoder['partialUsage']>> {
    return this.#decoder.partialUsage?.()
  }

  #unfence(delta: DeltaEvent): readonly StreamEvent[] {
    const { content, ...rest } = delta
    const { index, finishReason, toolCalls } = delta
    let text = this.#texts.get(index)
    if (content !== undefined && text === undefined) {
      text = new UnfencedText()
      this.#texts.set(index, text)
    }
    const isOver = finishReason !== undefined || toolCalls !== undefined
    let left = content === undefined ? '' : (text?.add(content) ?? '')
    if (isOver && text !== undefined) {
      left += text.end()
      this.#texts.delete(index)
    }
    if (left !== '') return [{ ...rest, content: left }]
    return Object.keys(rest).length === 2 ? [] : [rest]
  }

  #endAll(): readonly DeltaEvent[] {
    const left: DeltaEvent[] = []
    for (const [index, text] of this.#texts) {
      const content = text.end()
      if (content !== '') left.push({ type: 'delta', index, content })
    }
    this.#texts.clear()
    return left
  }
}

const FENCE = '```'
/** The longest line that may open a fence. */
const MAX_OPENING = 32
/** A line that opens a fence, or its beginning: it has nothing but the name of a language, since the answer begins after it. */
const OPENING = /^(?:`{0,2}|```[\w+-]*[ \t\r]*)$/
/** The most white space and backticks that may close a fence. */
const MAX_CLOSING = 256

/** A text that arrives in pieces, without the fence around it. What may still belong to a fence waits. */
class UnfencedText {
  #state: 'open' | 'fenced' | 'plain' = 'open'
  #waiting = ''

  /** Returns what is certain. */
  add(piece: string): string {
    this.#waiting += piece
    if (this.#state === 'open') this.#state = this.#open()
    const end = this.#certainLength()
    const certain = this.#waiting.slice(0, end)
    this.#waiting = this.#waiting.slice(end)
    return certain
  }

  /** Returns what waited, unless it closes the fence. */
  end(): string {
    const left = this.#waiting
    this.#waiting = ''
    return this.#state === 'fenced' && ['', FENCE].includes(left.trim()) ? '' : left
  }

  /** Returns the state after the text so far, and removes the opening of a fence from it. */
  #open(): 'open' | 'fenced' | 'plain' {
    const text = this.#waiting.trimStart()
    const lineEnd = text.indexOf('\n')
    const line = lineEnd < 0 ? text : text.slice(0, lineEnd)
    if (line.length > MAX_OPENING || !OPENING.test(line)) return 'plain'
    if (lineEnd >= 0) {
      if (!line.startsWith(FENCE)) return 'plain'
      this.#waiting = text.slice(lineEnd + 1)
      return 'fenced'
    }
    return this.#waiting.length > MAX_CLOSING ? 'plain' : 'open'
  }

  /** The length of what is certain. */
  #certainLength(): number {
    if (this.#state === 'open') return 0
    return this.#state === 'plain' ? this.#waiting.length : startOfClosing(this.#waiting)
  }
}

/** The position of the white space and backticks at the end of a text, which may close a fence. */
function startOfClosing(text: string): number {
  let at = text.length
  while (at > 0 && text.length - at < MAX_CLOSING && ' \t\r\n`'.includes(text[at - 1] as string)) at--
  return at
}
