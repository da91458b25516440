import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { DeltaEvent, StreamDecoder, StreamEvent } from '../../../stream/stream-event.ts'
import type { ClientFormat } from '../client-format.ts'

/**
 * Returns the format with answers that have one call each: of calls that the model makes at once the first is kept. For
 * callers who want one call at a time, at providers that cannot be asked for that.
 */
export function keepFirstCall(format: ClientFormat): ClientFormat {
  return {
    ...format,
    decodeReply: (body, target) => toSingleCalls(format.decodeReply(body, target)),
    openStream: target => new SingleCallDecoder(format.openStream(target)),
  }
}

function toSingleCalls(reply: ChatReply): ChatReply {
  const choices = reply.choices.map(choice => {
    const { tool_calls: calls } = choice.message
    if (calls === undefined || calls.length < 2) return choice
    return { ...choice, message: { ...choice.message, tool_calls: calls.slice(0, 1) } }
  })
  return { ...reply, choices }
}

class SingleCallDecoder implements StreamDecoder {
  readonly #decoder: StreamDecoder
  /** The index of the kept call, by choice. */
  readonly #kept = new Map<number, number>()

  constructor(decoder: StreamDecoder) {
    this.#decoder = decoder
  }

  decode(data: string, event?: string): readonly StreamEvent[] {
    const events = this.#decoder.decode(data, event)
    if (!events.some(event => event.type === 'delta' && event.toolCalls !== undefined)) return events
    return events.flatMap(event => (event.type === 'delta' ? this.#filter(event) : [event]))
  }

  get unsent(): number {
    return this.#decoder.unsent ?? 0
  }

  partialUsage(): ReturnType<NonNullable<StreamDecoder['partialUsage']>> {
    return this.#decoder.partialUsage?.()
  }

  #filter(delta: DeltaEvent): readonly StreamEvent[] {
    const { toolCalls, ...rest } = delta
    const [first] = toolCalls ?? []
    if (toolCalls === undefined || first === undefined) return [delta]
    let kept = this.#kept.get(delta.index)
    if (kept === undefined) {
      kept = first.index
      this.#kept.set(delta.index, kept)
    }
    const own = toolCalls.filter(({ index }) => index === kept)
    if (own.length > 0) return [{ ...rest, toolCalls: own }]
    // Nothing but another call was in it.
    return Object.keys(rest).length === 2 ? [] : [rest]
  }
}
