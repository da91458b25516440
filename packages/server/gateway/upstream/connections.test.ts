import { expect, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { type Borrower, type Connection, Connections } from './connections.ts'

/** No server listens there, and no call is made. */
const ORIGIN = 'http://127.0.0.1:9'

const ownerOf = (name: string): ShareOwner => ({
  environment: { orgId: name, id: name },
  caller: undefined,
  endUser: undefined,
})

function open(maxConnections: number, assertOrigin?: (origin: string) => void): Connections {
  return new Connections({
    maxConnections,
    client: {},
    ...(assertOrigin === undefined ? {} : { assertOrigin }),
  })
}

type RecordingBorrower = Borrower & { taken: Connection[]; refused: Error[] }

function borrow(connections: Connections, origin = ORIGIN, owner = ownerOf('one')): RecordingBorrower {
  const borrower: RecordingBorrower = {
    origin,
    owner,
    share: undefined,
    taken: [],
    refused: [],
    take: connection => void borrower.taken.push(connection),
    reject: error => void borrower.refused.push(error),
  }
  connections.lend(borrower)
  return borrower
}

test('lends the connection that was given back last', async () => {
  const connections = open(99)
  const [a, b, c] = [borrow(connections), borrow(connections), borrow(connections)]
  for (const { taken } of [a, c, b]) connections.release(taken[0] as Connection)
  expect(borrow(connections).taken).toEqual(b.taken)
  expect(borrow(connections).taken).toEqual(c.taken)
  await connections.destroy()
})

test('lets borrowers above the limit wait, first come, first served', async () => {
  const connections = open(1)
  const [first, second, third] = [borrow(connections), borrow(connections), borrow(connections)]
  expect([second.taken, third.taken]).toEqual([[], []])
  connections.release(first.taken[0] as Connection)
  expect([second.taken, third.taken]).toEqual([first.taken, []])
  connections.release(second.taken[0] as Connection)
  expect(third.taken).toEqual(first.taken)
  await connections.destroy()
})

test('rejects waiting borrowers on destroy()', async () => {
  const connections = open(1)
  const [first, second] = [borrow(connections), borrow(connections)]
  await connections.destroy()
  expect(second.refused.map(({ message }) => message)).toEqual(['the connections are closed'])
  expect((first.taken[0] as Connection).client.destroyed).toBe(true)
})

test('replaces a failed connection for the waiting borrower', async () => {
  const connections = open(1)
  const [first, second] = [borrow(connections), borrow(connections)]
  const failed = first.taken[0] as Connection
  connections.discard(failed)
  // Not within the failure's own tick.
  expect([second.taken, failed.client.destroyed]).toEqual([[], false])
  await Promise.resolve()
  expect([second.taken.length, second.taken[0] === failed, failed.client.destroyed]).toEqual([1, false, true])
  await connections.destroy()
})

test('skips borrowers that withdrew, and lends nothing after destroy()', async () => {
  const connections = open(1)
  const [first, second, third] = [borrow(connections), borrow(connections), borrow(connections)]
  connections.withdraw(second)
  connections.release(first.taken[0] as Connection)
  expect([second.taken, third.taken]).toEqual([[], first.taken])
  await connections.destroy()
  const late = borrow(connections)
  await Promise.resolve()
  expect([late.taken, late.refused.length]).toEqual([[], 1])
  // A call that ends now must not throw.
  connections.release(third.taken[0] as Connection)
})

test('rejects a borrower whose origin is not allowed, and lends its place to the next', async () => {
  const connections = open(1, origin => {
    if (origin !== ORIGIN) throw new Error('refused')
  })
  const [first, bad, second] = [
    borrow(connections),
    borrow(connections, 'http://127.0.0.1:10'),
    borrow(connections),
  ]
  connections.release(first.taken[0] as Connection)
  await Promise.resolve()
  expect([bad.taken, bad.refused.map(({ message }) => message)]).toEqual([[], ['refused']])
  expect(second.taken).toEqual(first.taken)
  await connections.destroy()
})

test('closes the connection that was idle longest before it opens one above the limit, and no lent one', async () => {
  const connections = open(16)
  const mine = borrow(connections, ORIGIN, ownerOf('mine'))
  const many = Array.from({ length: 40 }, (_, at) => {
    const [connection] = borrow(connections, `http://127.0.0.1:${1000 + at}`, ownerOf('many')).taken
    connections.release(connection as Connection)
    return connection as Connection
  })
  const closed = many.map(({ client }) => client.destroyed)
  expect(closed).toEqual([...Array(25).fill(true), ...Array(15).fill(false)])
  expect((mine.taken[0] as Connection).client.destroyed).toBe(false)
  connections.release(mine.taken[0] as Connection)
  expect(borrow(connections, ORIGIN, ownerOf('mine')).taken).toEqual(mine.taken)
  await connections.destroy()
  expect(many.every(({ client }) => client.destroyed)).toBe(true)
})
