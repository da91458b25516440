import * as z from 'zod/mini'

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max))

/** The filters of the address, under the names of the API. */
const FILTERS = {
  status: z.string().check(z.regex(/^([1-5]xx|[1-5]\d\d)$/)),
  error_code: text(64),
  model: text(544),
  provider: text(64),
  key_id: z.uuid(),
  end_user_id: text(255),
  min_cost_usd: z.string().check(z.regex(/^\d{1,9}(\.\d{1,9})?$/)),
  min_latency_ms: z.string().check(z.regex(/^\d{1,8}$/)),
} as const

const RANGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const
export type Range = keyof typeof RANGES
export const DEFAULT_RANGE: Range = '24h'

type FilterName = keyof typeof FILTERS
/** A key of requests' metadata, as the address and the API name it. */
type MetadataName = `metadata.${string}`
const METADATA = /^metadata\.(.{1,512})$/su
const MAX_METADATA_VALUE = 4_096

export type LogSearch = { readonly [Name in FilterName]?: string } & {
  readonly [Name in MetadataName]?: string
} & {
  readonly range?: Range
  readonly from?: string
  readonly to?: string
  readonly tail?: '1'
}

export const FILTER_LABELS: readonly (readonly [FilterName, string])[] = [
  ['status', 'Status'],
  ['error_code', 'Error code'],
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['key_id', 'Key'],
  ['end_user_id', 'End user'],
  ['min_cost_usd', 'Cost at least, $'],
  ['min_latency_ms', 'Takes at least, ms'],
]

/** Reads an address. What cannot be a value of its filter is left out: the address then says what is shown. */
export function parseLogSearch(search: Record<string, unknown>): LogSearch {
  const given = Object.entries(FILTERS).flatMap(([name, schema]) => {
    const parsed = z.safeParse(schema, search[name])
    return parsed.success ? [[name, parsed.data]] : []
  })
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

function isRange(value: unknown): value is Range {
  return typeof value === 'string' && Object.hasOwn(RANGES, value)
}

/** Returns the API's query: the filters, and the time that the range means now. */
export function toLogQuery(search: LogSearch, now: number): Record<string, string> {
  const { range = DEFAULT_RANGE, from, to, tail: _, ...filters } = search
  const isFixed = from !== undefined || to !== undefined
  return {
    ...filters,
    ...(isFixed ? {} : { from: new Date(now - RANGES[range]).toISOString() }),
    ...(from === undefined ? {} : { from: new Date(from).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  }
}

/** How many filters there are besides the time. */
export function countFilters(search: LogSearch): number {
  return FILTER_LABELS.filter(([name]) => search[name] !== undefined).length + listMetadata(search).length
}

/** The filters by metadata: names as in the address, and values. */
export function listMetadata(search: LogSearch): [MetadataName, string][] {
  return Object.entries(search).filter((entry): entry is [MetadataName, string] => METADATA.test(entry[0]))
}

/** The filters by metadata as a person writes them, such as `team=web, tag=a`. */
export function toMetadataText(search: LogSearch): string {
  return listMetadata(search)
    .map(([name, value]) => `${name.slice('metadata.'.length)}=${value}`)
    .join(', ')
}

/** The reverse: what has no `=` is left out. */
export function parseMetadataText(text: string): Record<MetadataName, string> {
  const pairs = text.split(',').flatMap(pair => {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    return at === -1 || name === '' ? [] : [[`metadata.${name}`, pair.slice(at + 1).trim()]]
  })
  return Object.fromEntries(pairs)
}
