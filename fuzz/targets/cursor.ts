import { cutPage, loadPage, type PageQuery } from '../../packages/server/control/operation/pagination.ts'
import { openCursor, signCursor } from '../../packages/server/control/operation/signed-cursor.ts'
import { openSecretBox } from '../../packages/server/core/access/secret-box.ts'
import { Fault } from '../../packages/server/core/fault.ts'
import { systemRandom } from '../../packages/server/core/random.ts'
import type { Page } from '../../packages/server/storage/page.ts'
import { edit, Input } from '../input.ts'
import { assert, assertEqual } from '../oracle.ts'

const secretBox = openSecretBox(Buffer.alloc(32, 7), systemRandom)
const BINDING = ['/v1/keys', { project: 'p' }]
const ROWS = Array.from({ length: 5 }, (_, index) => ({
  id: `0190${index}000-0000-7000-8000-00000000000${index}`,
  created_at: new Date(1_700_000_000_000 + index),
}))

export const seeds = ['\x00\x01\x00\x10\x00a', '\x01abcd', '\x02\x00\x00', '\x03aaaaaaaaaaaaaaaaaaaa'].map(
  text => Buffer.from(text, 'latin1'),
)

/** The cursor after the first rows, as a client gets it. */
const first = cutPage({ limit: 2 }, BINDING, ROWS)
const { next_cursor: SIGNED } = signCursor(first, secretBox) as { next_cursor: string }

async function catchFault<Value>(call: () => Value | Promise<Value>): Promise<Value | undefined> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    assertEqual([error.code, error.param], ['invalid_request', 'cursor'], 'a refusal names the cursor')
    return undefined
  }
}

/** Where a list would go on from a cursor of its own layer. The hash is not secret: the signature comes before it. */
async function findPosition(cursor: string): Promise<Page['after']> {
  let after: Page['after']
  await catchFault(() =>
    loadPage(
      { cursor },
      BINDING,
      page => {
        after = page.after
        return Promise.resolve([])
      },
      row => row,
    ),
  )
  return after
}

async function checkSigned(cursor: string): Promise<void> {
  const opened = (await catchFault(() => openCursor({ cursor, limit: 2 }, secretBox))) as
    | PageQuery
    | undefined
  assertEqual(
    opened !== undefined,
    cursor === SIGNED,
    'only a cursor of this deployment opens, in one spelling',
  )
  if (opened === undefined) return
  assertEqual(opened.cursor, first.next_cursor, 'the cursor of the list')
  const page = await catchFault(() => cutPage(opened, BINDING, ROWS))
  assertEqual(page?.data, ROWS.slice(2, 4), 'the rows that follow')
  assertEqual(
    await catchFault(() => cutPage(opened, ['/v1/other'], ROWS)),
    undefined,
    'no cursor of another list',
  )
}

/** A list goes on after the row that its page ended with, whatever time and id that row has. */
async function checkRoundTrip(input: Input): Promise<void> {
  const hex = Buffer.concat([input.take(16), Buffer.alloc(16)]).toString('hex', 0, 16)
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  )
  const row = { id, created_at: new Date(input.take(6).reduce((sum, byte) => sum * 256 + byte, 0)) }
  const page = await loadPage(
    { limit: 1 },
    BINDING,
    () => Promise.resolve([row, row]),
    each => each,
  )
  const after = await findPosition(page.next_cursor ?? '')
  assertEqual(after, { at: row.created_at, id }, 'a page goes on where the last one ended')
}

export async function fuzz(data: Buffer): Promise<void> {
  const input = new Input(data)
  const kind = input.byte() % 4
  if (kind === 0) await checkSigned(edit(Buffer.from(SIGNED), input).toString('latin1'))
  else if (kind === 1) await checkSigned(input.rest().toString('utf8'))
  else if (kind === 2) await checkRoundTrip(input)
  else {
    const cursor = input.rest().toString('latin1')
    const after = await findPosition(cursor)
    assert(after === undefined || Buffer.from(cursor, 'base64url').length >= 10, 'a position has its hash')
  }
}
