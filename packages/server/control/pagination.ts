import { createHash } from 'node:crypto'
import { Fault } from '../core/fault.ts'
import type { Page } from '../storage/page.ts'
import { integerParam } from './fields.ts'
import { z } from './zod.ts'

/** The two query parameters of every list (contract.md §1 "pagination"). */
export const pageQuery = {
  limit: integerParam(1, 100).optional().meta({ description: 'Page size; 20 where absent.' }),
  cursor: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .meta({ description: 'The `next_cursor` of the page before.' }),
}

export interface PageQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

const DEFAULT_LIMIT = 20

export function listOf<Record extends z.ZodType>(record: Record) {
  return z.strictObject({ data: z.array(record), has_more: z.boolean(), next_cursor: z.string().nullable() })
}

/**
 * One page in the list envelope. `binding` names the route, its path and its filter: a cursor of another one is
 * refused. `load` is asked for one record more than the page holds, which tells whether more follow.
 */
export async function loadPage<Row extends { readonly id: string }, Record>(
  query: PageQuery,
  binding: readonly unknown[],
  load: (page: Page) => Promise<readonly Row[]>,
  timeOf: (row: Row) => Date,
  toRecord: (row: Row) => Record,
): Promise<{ data: Record[]; has_more: boolean; next_cursor: string | null }> {
  const limit = query.limit ?? DEFAULT_LIMIT
  const bound = JSON.stringify(binding)
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, bound)
  const rows = await load({ limit: limit + 1, after })
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit
  return {
    data: shown.map(toRecord),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? encodeCursor(timeOf(last), last.id, bound) : null,
  }
}

// A cursor is 6 bytes of Unix milliseconds, 16 of the id and 10 of a hash over both and what they are bound to.
// The hash finds a mistaken or altered cursor. It guards no secret: who makes one up only moves inside its own list.
const POSITION_BYTES = 22
const CHECK_BYTES = 10

function encodeCursor(at: Date, id: string, bound: string): string {
  const position = Buffer.alloc(POSITION_BYTES)
  position.writeUIntBE(at.getTime(), 0, 6)
  position.write(id.replaceAll('-', ''), 6, 'hex')
  return Buffer.concat([position, check(position, bound)]).toString('base64url')
}

function decodeCursor(cursor: string, bound: string): { at: Date; id: string } {
  const bytes = Buffer.from(cursor, 'base64url')
  const position = bytes.subarray(0, POSITION_BYTES)
  const isOurs =
    bytes.length === POSITION_BYTES + CHECK_BYTES &&
    bytes.toString('base64url') === cursor &&
    bytes.subarray(POSITION_BYTES).equals(check(position, bound))
  if (!isOurs) {
    throw new Fault('invalid_request', 'The cursor is not one of this route and filter.', { param: 'cursor' })
  }
  const hex = position.toString('hex', 6)
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  )
  return { at: new Date(position.readUIntBE(0, 6)), id }
}

function check(position: Buffer, bound: string): Buffer {
  return createHash('sha256').update(position).update(bound).digest().subarray(0, CHECK_BYTES)
}
