import type { FieldSpan } from '@rideau/llm/json/field-span'
import type { JsonBounds, JsonProblem } from '@rideau/llm/json/json-bounds'
import { type JsonScan, SlicedJsonScan, scanShortJson } from '@rideau/llm/json/json-scan'
import type { Json } from '@rideau/llm/json/json-value'
import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import { Fault, type FaultDetails } from '../core/fault.ts'
import { runInSlices } from './sliced-work.ts'

export interface ParsedJson {
  readonly value: Json
  /** The position of each top-level field in the bytes. */
  readonly fields: ReadonlyMap<string, FieldSpan>
}

/** A longer body is parsed in slices. */
const SHORT_BYTES = 256 * 1024
/** So is one with more names, strings, objects and lists: they take 2 ms at the least and 10 at the most. */
const SHORT_PARTS = 4_096
/** All that are parsed in one turn of the event loop may take this together; what comes behind waits for its slices. */
const TURN_MS = 25
/** Below so many bytes looking at the clock would cost more than it is worth. */
const UNTIMED_BYTES = 4_096

/**
 * A body as JSON, by the rules of both hosts: UTF-8, at most 64 levels, no key twice in one object, and no more than
 * `bounds` allow. undefined where that would hold the event loop for too long: `parseLongJson` does it then.
 */
export function parseJson(bytes: Buffer, bounds: JsonBounds): ParsedJson | undefined {
  if (bytes.length <= UNTIMED_BYTES) return toParsed(scanShortJson(bytes, bounds, SHORT_PARTS), bounds)
  if (bytes.length > SHORT_BYTES || spentMs > TURN_MS) return undefined
  const startedAt = performance.now()
  try {
    return toParsed(scanShortJson(bytes, bounds, SHORT_PARTS), bounds)
  } finally {
    spend(performance.now() - startedAt)
  }
}

/** The same in slices, between which others are served. Rejects with what `findStop` gives once it gives a fault. */
export async function parseLongJson(
  bytes: Buffer,
  bounds: JsonBounds,
  findStop: () => Fault | undefined,
): Promise<ParsedJson> {
  const scan = new SlicedJsonScan(bytes, bounds)
  await runInSlices(scan, () => findStop() !== undefined)
  const stop = findStop()
  if (stop !== undefined) throw stop
  return toParsed(scan.result as JsonScan, bounds)
}

/** In this turn of the event loop. */
let spentMs = 0

function spend(ms: number): void {
  if (spentMs === 0) setImmediate(endTurn)
  spentMs += ms
}

function endTurn(): void {
  spentMs = 0
}

function toParsed(scan: JsonScan, bounds: JsonBounds): ParsedJson
function toParsed(scan: JsonScan | undefined, bounds: JsonBounds): ParsedJson | undefined
function toParsed(scan: JsonScan | undefined, bounds: JsonBounds): ParsedJson | undefined {
  if (scan === undefined) return undefined
  if (scan.ok) {
    if (scan.hasPrototypeKey) throw prototypeKeyFault()
    return scan
  }
  const details: FaultDetails = scan.key === undefined ? {} : { param: excerptName(scan.key) }
  const code = TOO_LARGE.has(scan.reason) ? 'request_too_large' : 'request_validation_failed'
  throw new Fault(code, describe(scan.reason, bounds), details)
}

/** Copying a field of this name by assignment would set the prototype of the copy. */
function prototypeKeyFault(): Fault {
  return new Fault('request_validation_failed', '__proto__: a field may not have this name.', {
    param: '__proto__',
  })
}

const TOO_LARGE: ReadonlySet<JsonProblem> = new Set(['too_many_values', 'too_many_fields'])

function describe(
  problem: JsonProblem,
  { maxValues, maxParts, maxFields, maxNameBytes }: JsonBounds,
): string {
  const format = (count: number): string => count.toLocaleString('en-US')
  switch (problem) {
    case 'duplicate_key':
      return 'The body has a key twice in one object.'
    case 'not_utf8':
      return 'The body is not valid UTF-8.'
    case 'malformed':
      return 'The body is not valid JSON.'
    case 'too_deep':
      return 'The body is nested deeper than 64 levels.'
    case 'long_name':
      return `A field name of the body is longer than ${format(maxNameBytes)} bytes.`
    case 'long_number':
      return 'A number of the body is longer than 1,024 characters.'
    case 'too_many_fields':
      return `The body has more than ${format(maxFields)} fields.`
    case 'too_many_values':
      return `The body has more than ${format(maxValues)} values, or more than ${format(maxParts)} names, strings, objects and lists.`
  }
}
