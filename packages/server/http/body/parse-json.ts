import { decodeText } from '@rideau/llm/json/decode-text'
import type { FieldSpan } from '@rideau/llm/json/field-span'
import {
  type JsonBounds,
  type JsonProblem,
  MAX_JSON_DEPTH,
  MAX_NUMBER_BYTES,
} from '@rideau/llm/json/json-bounds'
import { type JsonScan, SlicedJsonScan, SlicedPrefixScan, scanShortJson } from '@rideau/llm/json/json-scan'
import type { Json } from '@rideau/llm/json/json-value'
import { MAX_LONE_SURROGATES } from '@rideau/llm/json/lone-surrogates'
import { excerptName } from '@rideau/llm/request/bounded-excerpt'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { Fault, type FaultDetails } from '../../core/fault.ts'
import { runInSlices } from '../fairness/sliced-work.ts'

export interface ParsedJson {
  readonly value: Json
  /** The position of each top-level field in the bytes. */
  readonly fields: ReadonlyMap<string, FieldSpan>
}

/** Longer bodies are parsed in slices. */
const SHORT_BYTES = 256 * 1024
/** Bodies with more names, strings, objects and lists are parsed in slices too: this many take 2 to 10 ms. */
const SHORT_PARTS = 4_096
/** The time for all bodies that are parsed at once in one tick of the event loop. Later ones are parsed in slices. */
const TICK_MS = 10
/** Shorter bodies are not timed, because reading the clock would cost more than parsing them. */
const UNTIMED_BYTES = 4_096

/**
 * Parses a body as JSON: UTF-8, at most 64 levels, no key twice in one object, and within `bounds`. Throws a fault for any
 * other body. Returns undefined if parsing would block the event loop for too long: use `parseLongJson` then.
 */
export function parseJson(bytes: Buffer, bounds: JsonBounds): ParsedJson | undefined {
  if (bytes.length <= UNTIMED_BYTES) return toParsed(scanShortJson(bytes, bounds, SHORT_PARTS), bounds)
  if (bytes.length > SHORT_BYTES || spentMs > TICK_MS) return undefined
  const startedAt = performance.now()
  try {
    return toParsed(scanShortJson(bytes, bounds, SHORT_PARTS), bounds)
  } finally {
    spend(performance.now() - startedAt)
  }
}

/** Parses like `parseJson`, but in slices, between which other requests are served. Rejects with the fault of `findStop`. */
export async function parseLongJson(
  bytes: Buffer,
  bounds: JsonBounds,
  findStop: () => Fault | undefined,
  owner?: ShareOwner,
): Promise<ParsedJson> {
  const scan = new SlicedJsonScan(bytes, bounds)
  await runInSlices(scan, () => findStop() !== undefined, owner)
  const stop = findStop()
  if (stop !== undefined) throw stop
  return toParsed(scan.result as JsonScan, bounds)
}

/**
 * Looks through the beginning of a body, in slices. Rejects with the fault with which `parseLongJson` would refuse the whole body, so that
 * the rest of it need not be read.
 */
export async function checkBeginning(
  beginning: Buffer,
  bounds: JsonBounds,
  findStop: () => Fault | undefined,
  owner?: ShareOwner,
): Promise<void> {
  const scan = new SlicedPrefixScan(beginning, bounds)
  await runInSlices(scan, () => findStop() !== undefined, owner)
  if (scan.problem !== undefined) toParsed(scan.problem, bounds)
}

/**
 * Parses a provider's answer with JSON.parse, which accepts more than `parseJson`. Returns undefined if that would block the
 * event loop for too long: use `parseLongJson` then. Throws SyntaxError.
 */
export function parseShortAnswer(bytes: Buffer): { readonly value: unknown } | undefined {
  if (bytes.length <= UNTIMED_BYTES) return { value: JSON.parse(decodeText(bytes)) }
  if (bytes.length > SHORT_BYTES || spentMs > TICK_MS) return undefined
  const startedAt = performance.now()
  try {
    return { value: JSON.parse(decodeText(bytes)) }
  } finally {
    spend(performance.now() - startedAt)
  }
}

/** Spent on parsing in this tick of the event loop. */
let spentMs = 0

function spend(ms: number): void {
  if (spentMs === 0) setImmediate(endTick)
  spentMs += ms
}

function endTick(): void {
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
  const param = scan.key === undefined ? undefined : excerptName(scan.key)
  const details: FaultDetails = param === undefined ? {} : { param }
  const code = TOO_LARGE.has(scan.reason) ? 'request_too_large' : 'request_validation_failed'
  const message = describe(scan.reason, bounds)
  throw new Fault(code, param === undefined ? `The body ${message}` : `${param}: ${message}`, details)
}

/** Assigning a field of this name to a copy would set the prototype of the copy. */
function prototypeKeyFault(): Fault {
  return new Fault('request_validation_failed', '__proto__: must not be the name of a field.', {
    param: '__proto__',
  })
}

const TOO_LARGE: ReadonlySet<JsonProblem> = new Set(['too_many_values', 'too_many_fields'])

/** Returns what a body, or the field with the problem, must be. */
function describe(
  problem: JsonProblem,
  { maxValues, maxParts, maxFields, maxNameBytes }: JsonBounds,
): string {
  const format = (count: number): string => count.toLocaleString('en-US')
  switch (problem) {
    case 'duplicate_key':
      return 'must not be given twice in one object.'
    case 'not_utf8':
      return 'must be valid UTF-8.'
    case 'not_unicode':
      return `must have at most ${format(MAX_LONE_SURROGATES)} escapes of half surrogate pairs, such as \\ud800.`
    case 'malformed':
      return 'must be valid JSON.'
    case 'too_deep':
      return `must be nested at most ${MAX_JSON_DEPTH} levels deep.`
    case 'long_name':
      return `must have field names of at most ${format(maxNameBytes)} bytes.`
    case 'long_number':
      return `must have numbers of at most ${format(MAX_NUMBER_BYTES)} characters.`
    case 'too_many_fields':
      return `must have at most ${format(maxFields)} fields.`
    case 'too_many_values':
      return `must have at most ${format(maxValues)} values, and at most ${format(maxParts)} names, strings, objects and lists.`
  }
}
