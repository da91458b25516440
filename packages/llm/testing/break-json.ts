import type { Json } from '../json/json-value.ts'

/** One change to an answer: `at` picks the value that it happens to, `how` what happens. Both may be any whole number. */
export interface Break {
  readonly at: number
  readonly how: number
}

/** Written into the text at the end: what JSON can contain and no encoder can write from a value. */
const MARKS: readonly (readonly [mark: string, text: string])[] = [
  // Deeper than what can be written as JSON again, though it can be read.
  ['@deep@', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  // Reads as infinity.
  ['@huge@', '1e999'],
  ['@proto@', '{"__proto__":{"type":"text"},"type":"text"}'],
]

/** What a value is replaced by. The texts are those that mean something to code rather than to a format. */
const REPLACEMENTS: readonly (() => Json)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1.5,
  () => 1e300,
  () => 2 ** 53,
  () => 5000,
  () => '',
  () => 'no such word',
  () => '12',
  () => '\uD800',
  () => '__proto__',
  () => 'constructor',
  () => 'toString',
  () => [],
  () => [null, 1, 'x', [], {}],
  () => ({}),
  () => ({ toString: 1, valueOf: 1 }),
  () => ({ type: 'brand_new_block', text: 1, name: [] }),
  ...MARKS.map(
    ([mark]) =>
      () =>
        mark,
  ),
]

const CHANGES = ['drop', 'duplicate', 'reverse', 'insert'] as const
const KINDS = REPLACEMENTS.length + CHANGES.length

type Container = { [key: string]: Json | undefined } | Json[]
interface Location {
  readonly within: Container
  readonly key: string | number
}

/** The JSON text of an answer with the changes; text that is no JSON stays as it is. */
export function breakJson(text: string, breaks: readonly Break[]): string {
  const root = parse(text)
  if (root === undefined) return text
  for (const { at, how } of breaks) {
    const locations = findLocations(root)
    const location = locations[at % locations.length]
    if (location !== undefined) change(location, how % KINDS)
  }
  // The whole may have been dropped.
  const broken = JSON.stringify(root.value) ?? 'null'
  return MARKS.reduce((sum, [mark, raw]) => sum.replaceAll(`"${mark}"`, raw), broken)
}

function parse(text: string): { value: Json } | undefined {
  // Broken that way already: there is no more to break, and copying it has the same limit as writing it.
  if (text.includes('[[[[[[[[')) return undefined
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return undefined
  }
}

/** Every value's location, to a depth that no format has. */
function findLocations(within: Container, depth = 0): Location[] {
  if (depth > 30) return []
  const keys: (string | number)[] = Array.isArray(within) ? [...within.keys()] : Object.keys(within)
  return keys.flatMap(key => {
    const inner = read(within, key)
    const isContainer = typeof inner === 'object' && inner !== null
    return [{ within, key }, ...(isContainer ? findLocations(inner as Container, depth + 1) : [])]
  })
}

function read(within: Container, key: string | number): Json | undefined {
  return Array.isArray(within) ? within[Number(key)] : within[key]
}

function change({ within, key }: Location, how: number): void {
  const replacement = REPLACEMENTS[how - CHANGES.length]
  if (replacement !== undefined) {
    if (Array.isArray(within)) within[Number(key)] = replacement()
    else within[key] = replacement()
  } else if (Array.isArray(within)) changeList(within, Number(key), CHANGES[how])
  else if (CHANGES[how] === 'drop') delete within[key]
  else within[`${key}_new`] = structuredClone(within[key])
}

function changeList(list: Json[], at: number, how: (typeof CHANGES)[number] | undefined): void {
  if (how === 'drop') list.splice(at, 1)
  else if (how === 'duplicate') list.splice(at, 0, structuredClone(list[at] as Json))
  else if (how === 'reverse') list.reverse()
  else list.splice(at, 0, { type: 'brand_new_block' })
}
