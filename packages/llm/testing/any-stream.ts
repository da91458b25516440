import fc from 'fast-check'
import type { StreamEvent } from '../stream/stream-event.ts'

/** Events of an answer, and what they say in all. `calls` has the arguments of each call. */
export interface AnyStream {
  readonly events: readonly StreamEvent[]
  readonly said: { readonly content: string; readonly reasoning: string; readonly calls: readonly string[] }
}

const CALLS = [0, 1, 2]

const piece = fc.oneof(
  fc.record({ content: fc.string() }),
  fc.record({ reasoning: fc.string() }),
  // The next characters of a call's arguments.
  fc.record({ call: fc.nat(CALLS.length - 1), characters: fc.nat(8) }),
)
const callArguments = fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.stringify(value))

/**
 * Texts, reasoning and up to three calls, in pieces of any size that alternate in any way. The arguments of each call are JSON
 * objects and complete.
 */
export const anyStream: fc.Arbitrary<AnyStream> = fc
  .tuple(fc.array(piece), fc.tuple(...CALLS.map(() => callArguments)))
  .map(([pieces, texts]) => {
    const begun = new Set(pieces.map(each => ('call' in each ? each.call : undefined)))
    const ends = CALLS.map(call => ({ call, characters: Number.MAX_SAFE_INTEGER }))
    const all = [...pieces, ...ends.filter(({ call }) => begun.has(call))]
    const rest = [...texts]
    const said = { content: '', reasoning: '', calls: [] as string[] }
    const numbers = new Map<number, number>()
    const events = all.map((each): StreamEvent => {
      if ('content' in each) said.content += each.content
      if ('reasoning' in each) said.reasoning += each.reasoning
      if (!('call' in each)) return { type: 'delta', index: 0, ...each }
      const known = numbers.get(each.call)
      const index = known ?? numbers.size
      numbers.set(each.call, index)
      const text = rest[each.call]?.slice(0, each.characters) ?? ''
      rest[each.call] = rest[each.call]?.slice(text.length) ?? ''
      said.calls[index] = (said.calls[index] ?? '') + text
      const head = known === undefined ? { id: `c${index}`, type: 'function' as const } : {}
      const fn = { arguments: text, ...(known === undefined ? { name: 'f' } : {}) }
      return { type: 'delta', index: 0, toolCalls: [{ index, ...head, function: fn }] }
    })
    return { events, said }
  })
