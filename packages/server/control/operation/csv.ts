import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Page } from '../../storage/page.ts'
import type { AnswerMemory } from './control-answers.ts'
import { mapInSlices } from './map-in-slices.ts'
import type { z } from './zod.ts'

/** A page of a list whose rows have no nested fields. */
export interface CsvList {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor: string | null
}

type Row = CsvList['data'][number]

/** Rows of a file, and the position after them; undefined: they are the last. */
export interface CsvPage {
  readonly rows: readonly Row[]
  readonly next: Page['after']
}

/** What a file consists of: its columns, and how many rows it has at most. */
export interface CsvFileShape {
  readonly row: z.ZodObject
  readonly most: number
}

/** True if the header `Accept` names text/csv, and application/json no more than it. */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const weights = new Map(accept.split(',').map(toWeight))
  const csv = weights.get('text/csv') ?? 0
  return csv > 0 && csv >= (weights.get('application/json') ?? 0)
}

function toWeight(range: string): readonly [string, number] {
  const [type = '', ...params] = range.split(';').map(part => part.trim().toLowerCase())
  const weight = Number(params.find(param => param.startsWith('q='))?.slice(2) ?? 1)
  return [type, Number.isNaN(weight) ? 0 : weight]
}

/** Sends the page as a file. The header `X-Rideau-Next-Cursor` has the cursor of the next page, if there is one. */
export async function sendCsv(
  reply: FastifyReply,
  name: string,
  row: z.ZodObject,
  list: CsvList,
  orgId: string | undefined,
): Promise<FastifyReply> {
  if (list.next_cursor !== null) reply.header('X-Rideau-Next-Cursor', list.next_cursor)
  return asFile(reply, name).send(await toCsv(row, list.data, orgId))
}

/** What a file is made of. */
interface FileSource {
  readonly shape: CsvFileShape
  readonly load: (after: Page['after']) => Promise<CsvPage>
  /** Counts what the caller has not read. */
  readonly memory: AnswerMemory
  /** Whose rows they are. */
  readonly orgId: string | undefined
}

/**
 * Sends all pages as one file. A page is read when the caller has taken the one before it, so that a caller that does not read has one
 * page in memory and nothing of the database. The first is read before the head, so that its fault is an ordinary error. A later
 * failure cuts the connection. A file that ends before the last row has a last line that says so.
 */
export async function sendCsvFile(
  reply: FastifyReply,
  name: string,
  source: FileSource,
): Promise<FastifyReply> {
  const pages = writePages(source)
  const first = await pages.next()
  const firstPages = first.done === true ? [] : [first.value]
  return asFile(reply, name).send(Readable.from(writeAll(firstPages, pages), { objectMode: false }))
}

/** `firstPages` is emptied, since who does not read would keep it in memory. */
async function* writeAll(firstPages: Buffer[], pages: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let page = firstPages.pop(); page !== undefined; page = firstPages.pop()) yield page
  yield* pages
}

async function* writePages(source: FileSource): AsyncGenerator<Buffer> {
  const { shape, memory } = source
  const { row, most } = shape
  const columns = Object.keys(row.shape)
  let head = toLine(columns)
  let written = 0
  let after: Page['after']
  do {
    const page = await loadLines(source, after, columns, most - written)
    written += page.count
    after = page.next
    const isCut = written === most && (after !== undefined || page.isCut)
    const end = isCut ? toLine([`Cut after ${most} rows: there are older ones.`]) : ''
    const bytes = Buffer.from(head + page.lines.splice(0).join('') + end)
    head = ''
    const fault = memory.acquire(bytes.length)
    if (fault !== undefined) throw fault
    yield bytes
    if (isCut) return
  } while (after !== undefined && (await memory.taken()))
}

/** Makes at most `most` lines of a page. Rows of much metadata take milliseconds each, so it is done in slices. */
async function loadLines(
  { load, orgId }: FileSource,
  after: Page['after'],
  columns: readonly string[],
  most: number,
) {
  const { rows, next } = await load(after)
  const lines = await mapInSlices(rows.slice(0, most), row => toLine(columns.map(name => row[name])), orgId)
  return { lines, count: lines.length, next, isCut: lines.length < rows.length }
}

function asFile(reply: FastifyReply, name: string): FastifyReply {
  const file = name.split('.', 1)[0] as string
  reply.header('Content-Type', 'text/csv; charset=utf-8')
  return reply.header('Content-Disposition', `attachment; filename="${file}.csv"`)
}

/** Returns the rows as RFC 4180, with a head. A column that is optional is there if a row has it. */
async function toCsv(row: z.ZodObject, rows: CsvList['data'], orgId: string | undefined): Promise<string> {
  const columns = Object.entries(row.shape)
    .filter(([name, field]) => !isOptional(field) || rows.some(row => row[name] !== undefined))
    .map(([name]) => name)
  const lines = await mapInSlices(rows, row => toLine(columns.map(name => row[name])), orgId)
  return toLine(columns) + lines.join('')
}

/** Returns a line of a file. */
export function toLine(cells: readonly unknown[]): string {
  return `${cells.map(toCell).join(',')}\r\n`
}

function isOptional(field: unknown): boolean {
  return (field as z.ZodType).safeParse(undefined).success
}

/**
 * What a spreadsheet reads as a formula: at the start of a text, and after each separator that a spreadsheet of any language
 * may cut a line at. Quotes do not prevent that where the separator is another one than this file's.
 */
const FORMULA = /(?=[=+\-@\uff1d\uff0b\uff0d\uff20])(?<=(?:^|[,;|\t\r\n])[\s"']*)./g

/** Quotes what must be quoted. What a spreadsheet would read as a formula gets an apostrophe before it. */
function toCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return toDigits(value)
  const text = String(value)
  const safe = text.replace(FORMULA, "'$&")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Returns the number without an exponent, to the nano-dollar. */
function toDigits(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/\.?0+$/, '')
}
