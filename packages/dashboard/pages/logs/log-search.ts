import * as z from 'zod/mini'

export const ENDPOINTS = ['chat', 'count_tokens', 'embeddings', 'rerank', 'images', 'audio'] as const

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max))

/** Filters that the address may have several times, and negated, such as `not.model`. */
const VALUES = {
  status: z.string().check(z.regex(/^([1-5]xx|[1-5]\d\d)$/)),
  error_code: text(64),
  model: text(544),
  provider: text(64),
  key_id: z.uuid(),
  key_name: text(200),
  end_user_id: text(255),
  endpoint: z.enum(ENDPOINTS),
} as const

const SINGLE = {
  stream: z.enum(['true', 'false']),
  sandbox: z.enum(['true', 'false']),
  request_id: z.string().check(z.regex(/^[0-9a-f]{8}[0-9a-f-]{0,28}$/i)),
  min_cost_usd: z.string().check(z.regex(/^\d{1,9}(\.\d{1,9})?$/)),
  min_latency_ms: z.string().check(z.regex(/^\d{1,8}$/)),
} as const

const MAX_VALUES = 20

const RANGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const
export type Range = keyof typeof RANGES
export const DEFAULT_RANGE: Range = '24h'

type ValueName = keyof typeof VALUES
type SingleName = keyof typeof SINGLE
type NegatedName = `not.${ValueName}`
/** A filter of the address, under its name in the API. */
export type FilterName = ValueName | NegatedName | SingleName
/** A filter by a metadata key of requests, under its name in the address and in the API. */
type MetadataName = `metadata.${string}`
const METADATA = /^metadata\.(.{1,512})$/su
const MAX_METADATA_VALUE = 4_096

export type LogSearch = { readonly [Name in ValueName | NegatedName]?: string | readonly string[] } & {
  readonly [Name in SingleName]?: string
} & {
  readonly [Name in MetadataName]?: string
} & {
  readonly range?: Range
  readonly from?: string
  readonly to?: string
  readonly tail?: '1'
}

const LABELS: readonly (readonly [ValueName | SingleName, string])[] = [
  ['status', 'Status'],
  ['error_code', 'Error code'],
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['key_id', 'Key'],
  ['key_name', 'Key name'],
  ['end_user_id', 'End user'],
  ['endpoint', 'Endpoint'],
  ['stream', 'Streamed'],
  ['sandbox', 'Sandbox'],
  ['request_id', 'Request id'],
  ['min_cost_usd', 'Cost at least, $'],
  ['min_latency_ms', 'Duration at least, ms'],
]

/** Every filter with its label, in the order in which they are shown. */
export const FILTER_LABELS: readonly (readonly [FilterName, string])[] = LABELS.flatMap(
  ([name, label]): (readonly [FilterName, string])[] =>
    isValueName(name)
      ? [
          [name, label],
          [`not.${name}`, `Not ${label.toLowerCase()}`],
        ]
      : [[name, label]],
)

function isValueName(name: ValueName | SingleName): name is ValueName {
  return Object.hasOwn(VALUES, name)
}

/** Reads the filters of an address. Invalid values are left out. */
export function parseLogSearch(search: Record<string, unknown>): LogSearch {
  const given = [
    ...Object.entries(SINGLE).map(([name, schema]) => [name, readValues(schema, search[name], 1)] as const),
    ...Object.entries(VALUES).flatMap(([name, schema]) =>
      [name, `not.${name}`].map(item => [item, readValues(schema, search[item], MAX_VALUES)] as const),
    ),
  ].filter(([, value]) => value !== undefined)
  const times = (['from', 'to'] as const).flatMap(name => {
    const value = search[name]
    return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? [[name, value]] : []
  })
  const metadata = Object.entries(search).filter(
    ([name, value]) =>
      METADATA.test(name) &&
      (typeof value === 'string' || typeof value === 'number') &&
      String(value).length <= MAX_METADATA_VALUE,
  )
  const { range, tail } = search
  return {
    ...Object.fromEntries([...given, ...times, ...metadata.map(([name, value]) => [name, String(value)])]),
    ...(isRange(range) ? { range } : {}),
    ...(tail === '1' ? { tail } : {}),
  }
}

/** Returns the valid values of a filter: one as a string, several as a list. */
function readValues(schema: z.ZodMiniType<string>, given: unknown, most: number) {
  const all = (Array.isArray(given) ? given : [given]).flatMap(item => {
    // Links inside the dashboard may pass numbers and booleans.
    const isPlain = typeof item === 'number' || typeof item === 'boolean'
    const parsed = z.safeParse(schema, isPlain ? String(item) : item)
    return parsed.success ? [parsed.data] : []
  })
  const values = [...new Set(all)].slice(0, most)
  return values.length > 1 ? values : values[0]
}

/** Returns the values of a filter as a list. */
export function listValues(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/** Returns a filter and its negation as text for a field: `gpt-4o, !gpt-3.5-turbo`. */
export function toValuesText(search: LogSearch, name: ValueName): string {
  return [...listValues(search[name]), ...listValues(search[`not.${name}`]).map(item => `!${item}`)].join(
    ', ',
  )
}

/** Parses the text of such a field into parameters of the address. */
export function parseValuesText(name: ValueName, text: string): Record<string, readonly string[]> {
  const all = text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '' && item !== '!')
  return {
    [name]: all.filter(item => !item.startsWith('!')),
    [`not.${name}`]: all.filter(item => item.startsWith('!')).map(item => item.slice(1).trim()),
  }
}

function isRange(value: unknown): value is Range {
  return typeof value === 'string' && Object.hasOwn(RANGES, value)
}

/** Parameters of the API. A list stands for a parameter that is given several times. */
export type LogQuery = Readonly<Record<string, string | readonly string[]>>

/** Returns the API's query: the filters, and the time that the range means now. */
export function toLogQuery(search: LogSearch, now: number): LogQuery {
  const { range = DEFAULT_RANGE, from, to, tail: _, ...filters } = search
  const isFixed = from !== undefined || to !== undefined
  return {
    ...filters,
    ...(isFixed ? {} : { from: new Date(now - RANGES[range]).toISOString() }),
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  }
}

/** Returns the number of filters besides the time. */
export function countFilters(search: LogSearch): number {
  return FILTER_LABELS.filter(([name]) => search[name] !== undefined).length + listMetadata(search).length
}

/** Returns the metadata filters as pairs of the name in the address and the value. */
export function listMetadata(search: LogSearch): [MetadataName, string][] {
  return Object.entries(search).filter((entry): entry is [MetadataName, string] => METADATA.test(entry[0]))
}

/** Returns the metadata filters as text for a field, such as `team=web, tag=a`. */
export function toMetadataText(search: LogSearch): string {
  return listMetadata(search)
    .map(([name, value]) => `${name.slice('metadata.'.length)}=${value}`)
    .join(', ')
}

/** Parses the text of that field. Parts without `=` are left out. */
export function parseMetadataText(text: string): Record<MetadataName, string> {
  const pairs = text.split(',').flatMap(pair => {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    return at === -1 || name === '' ? [] : [[`metadata.${name}`, pair.slice(at + 1).trim()]]
  })
  return Object.fromEntries(pairs)
}
