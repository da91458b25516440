import { createHash } from 'node:crypto'
import { estimateBytes } from '../../core/estimate-bytes.ts'
import { Fault } from '../../core/fault.ts'
import type { Page } from '../../storage/page.ts'
import { integerParam } from './fields.ts'
import { z } from './zod.ts'

/** The two query parameters of every list. */
export const pageQuery = {
  limit: integerParam(1, 100).optional().meta({ description: 'Page size. Default: 20.' }),
  cursor: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .meta({ description: 'The `next_cursor` of the previous page.' }),
}

/** The same of a list that is answered as a whole unless a page of it is asked for. */
export const wholeListQuery = {
  ...pageQuery,
  limit: pageQuery.limit.meta({ description: 'Page size. Default: all at once.' }),
}

export interface PageQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

const DEFAULT_LIMIT = 20

export function listOf<Record extends z.ZodType>(record: Record) {
  return z.strictObject({ data: z.array(record), has_more: z.boolean(), next_cursor: z.string().nullable() })
}

interface ListPage<Record> {
  data: Record[]
  has_more: boolean
  next_cursor: string | null
}

/** Loads one page of rows, newest first by their creation; see loadBoundedPage. */
export async function loadPage<Row extends { readonly id: string; readonly created_at: Date }, Record>(
  query: PageQuery,
  binding: readonly unknown[],
  load: (page: Page) => Promise<readonly Row[]>,
  toRecord: (row: Row) => Record,
): Promise<ListPage<Record>> {
  return await loadBoundedPage(query, binding, load, row => row.created_at, toRecord)
}

/** About the most bytes of rows in a page of records. A page of longer ones has fewer rows than `limit`, at least one. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** Loads a page like loadPageBy, for rows that may be long: they are read in parts, and a page with too many bytes ends before `limit`. */
export async function loadBoundedPage<Row extends { readonly id: string }, Record>(
  query: PageQuery,
  binding: readonly unknown[],
  load: (page: Page) => Promise<readonly Row[]>,
  timeOf: (row: Row) => Date,
  toRecord: (row: Row) => Record,
): Promise<ListPage<Record>> {
  const loadPart = async ({ limit, after }: Page): Promise<LoadedPage<Row>> => {
    const rows: Row[] = []
    let room = MAX_PAGE_BYTES
    let part = Math.min(limit, DEFAULT_LIMIT + 1)
    let from = after
    while (part > 0) {
      const found = await load({ limit: part, after: from })
      for (const row of found) {
        room -= estimateBytes(row)
        if (room < 0 && rows.length > 0) return { rows, hasMore: true }
        rows.push(row)
      }
      const last = found.at(-1)
      if (last === undefined || found.length < part) break
      from = { at: timeOf(last), id: last.id }
      const fitting = Math.ceil((room * rows.length) / (MAX_PAGE_BYTES - room))
      part = Math.min(limit - rows.length, Math.max(1, fitting))
    }
    return { rows, hasMore: false }
  }
  return await loadPageOf(query, binding, loadPart, timeOf, toRecord)
}

/**
 * Loads one page of rows, newest first by `timeOf`, in the list envelope. `binding` is the route, its path and its filter: a cursor
 * with another binding is rejected with 400 `invalid_request`. `load` is asked for one row more than the page holds, to
 * learn whether more rows follow.
 */
export async function loadPageBy<Row extends { readonly id: string }, Record>(
  query: PageQuery,
  binding: readonly unknown[],
  load: (page: Page) => Promise<readonly Row[]>,
  timeOf: (row: Row) => Date,
  toRecord: (row: Row) => Record,
): Promise<ListPage<Record>> {
  const loadAll = async (page: Page): Promise<LoadedPage<Row>> => ({ rows: await load(page), hasMore: false })
  return await loadPageOf(query, binding, loadAll, timeOf, toRecord)
}

interface LoadedPage<Row> {
  readonly rows: readonly Row[]
  /** True if the page ends with these rows although there are others. */
  readonly hasMore: boolean
}

async function loadPageOf<Row extends { readonly id: string }, Record>(
  query: PageQuery,
  binding: readonly unknown[],
  load: (page: Page) => Promise<LoadedPage<Row>>,
  timeOf: (row: Row) => Date,
  toRecord: (row: Row) => Record,
): Promise<ListPage<Record>> {
  const limit = query.limit ?? DEFAULT_LIMIT
  const position = decodeCursor(query.cursor, binding)
  const after = position === undefined ? undefined : decodeRowPosition(position)
  const { rows, hasMore } = await load({ limit: limit + 1, after })
  const shown = rows.slice(0, limit)
  const last = hasMore || rows.length > limit ? shown.at(-1) : undefined
  const next = last === undefined ? null : encodeCursor(encodeRowPosition(timeOf(last), last.id), binding)
  return { data: shown.map(toRecord), has_more: last !== undefined, next_cursor: next }
}

/** Returns one page of a list in memory, ordered by id, or by another text that each record has of its own. */
export function cutPage<Record extends { readonly id: string }>(
  query: PageQuery,
  binding: readonly unknown[],
  all: readonly Record[],
  orderOf: (record: Record) => string = record => record.id,
): ListPage<Record> {
  const limit = query.limit ?? DEFAULT_LIMIT
  const position = decodeCursor(query.cursor, binding)?.toString('utf8')
  const ordered = [...all].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  const rest = position === undefined ? ordered : ordered.filter(item => orderOf(item) > position)
  const data = rest.slice(0, limit)
  const last = rest.length > limit ? data.at(-1) : undefined
  const next = last === undefined ? null : encodeCursor(Buffer.from(orderOf(last)), binding)
  return { data, has_more: last !== undefined, next_cursor: next }
}

/**
 * Returns one page of a short list in memory, in its own order; without a `limit` all that follows the cursor. Each record has
 * a name of its own. The next page follows the record that ended the last one, wherever the list has it now, or its
 * position if it was removed.
 */
export function cutInOrder<Record>(
  query: PageQuery,
  binding: readonly unknown[],
  all: readonly Record[],
  nameOf: (record: Record) => string,
): ListPage<Record> {
  const position = decodeCursor(query.cursor, binding)
  const start = position === undefined ? 0 : toStart(position, all.map(nameOf))
  const data = all.slice(start, query.limit === undefined ? undefined : start + query.limit)
  const end = start + data.length
  const last = end < all.length ? data.at(-1) : undefined
  const next = last === undefined ? null : encodeCursor(encodePlace(end, nameOf(last)), binding)
  return { data, has_more: last !== undefined, next_cursor: next }
}

// The position in a list of its own order: how many records came before, and a digest of the last one's name, which may be long.

function encodePlace(end: number, name: string): Buffer {
  const place = Buffer.alloc(4)
  place.writeUInt32BE(end)
  return Buffer.concat([place, createHash('sha256').update(name).digest().subarray(0, 16)])
}

function toStart(position: Buffer, names: readonly string[]): number {
  const last = names.findIndex(name => position.equals(encodePlace(position.readUInt32BE(), name)))
  return last >= 0 ? last + 1 : position.readUInt32BE() - 1
}

// A cursor consists of 10 bytes of a hash over the position and its binding, and the position. The hash rejects a cursor
// of another route or filter; the signature (signed-cursor.ts) rejects a forged one.
const CHECK_BYTES = 10

function encodeCursor(position: Buffer, binding: readonly unknown[]): string {
  return Buffer.concat([toChecksum(position, binding), position]).toString('base64url')
}

function decodeCursor(cursor: string | undefined, binding: readonly unknown[]): Buffer | undefined {
  if (cursor === undefined) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  const position = bytes.subarray(CHECK_BYTES)
  const isAuthentic = bytes.subarray(0, CHECK_BYTES).equals(toChecksum(position, binding))
  // base64url has several spellings of the same bytes; only the canonical one is accepted.
  if (!isAuthentic || bytes.toString('base64url') !== cursor) {
    throw new Fault('invalid_request', 'The cursor is not one of this route and filter.', {
      param: 'cursor',
    })
  }
  return position
}

function toChecksum(position: Buffer, binding: readonly unknown[]): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(binding))
    .update('\0')
    .update(position)
    .digest()
    .subarray(0, CHECK_BYTES)
}

// The position of a row: 6 bytes of Unix milliseconds and 16 of its id. PostgreSQL accepts any value of these bytes.

function encodeRowPosition(at: Date, id: string): Buffer {
  const position = Buffer.alloc(22)
  position.writeUIntBE(at.getTime(), 0, 6)
  position.write(id.replaceAll('-', ''), 6, 'hex')
  return position
}

function decodeRowPosition(position: Buffer): { at: Date; id: string } {
  const bytes = Buffer.alloc(22)
  position.copy(bytes)
  const hex = bytes.toString('hex', 6)
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  )
  return { at: new Date(bytes.readUIntBE(0, 6)), id }
}
