import { EVENT_BOUNDS } from './body-bounds.ts'
import { PartCounter } from './part-counter.ts'
import { StructureWalk } from './structure-walk.ts'

/** An event is parsed in one go. Shorter ones take less than 10 ms, whatever they contain. */
const SHORT_EVENT_CHARS = 64 * 1024

/** Throws if an event of a provider's stream contains so many values that parsing it would block the event loop. */
export function assertBoundedEvent(data: string): void {
  if (data.length <= SHORT_EVENT_CHARS) return
  const walk = new StructureWalk(Buffer.from(data), EVENT_BOUNDS)
  walk.advance(Number.MAX_SAFE_INTEGER)
  if (walk.problem === 'too_many_values') throw tooManyValues()
  // At another problem the walk ended, but a parser reads on.
  if (walk.problem === undefined) return
  const counter = new PartCounter()
  counter.add(data, 0, data.length)
  counter.end()
  if (counter.count > EVENT_BOUNDS.maxParts) throw tooManyValues()
}

function tooManyValues(): Error {
  return new Error('an event of the stream contains too many values')
}
