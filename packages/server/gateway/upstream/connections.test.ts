import type { Client } from 'undici'
import { expect, test } from 'vitest'
import { type Borrower, Connections } from './connections.ts'

/** No server listens there, and no call is made. */
const ORIGIN = 'http://127.0.0.1:9'

function borrow(connections: Connections): Borrower & { taken: Client[]; refused: Error[] } {
  const borrower = {
    taken: [] as Client[],
    refused: [] as Error[],
    take: (connection: Client) => void borrower.taken.push(connection),
    reject: (error: Error) => void borrower.refused.push(error),
  }
  connections.lend(borrower)
  return borrower
}

test('lends the connection that was given back last', async () => {
  const connections = new Connections(ORIGIN, 9, {})
  const [a, b, c] = [borrow(connections), borrow(connections), borrow(connections)]
  for (const { taken } of [a, c, b]) connections.giveBack(taken[0] as Client)
  expect(borrow(connections).taken).toEqual(b.taken)
  expect(borrow(connections).taken).toEqual(c.taken)
  await connections.destroy()
})

test('lets borrowers above the limit wait, first come, first served', async () => {
  const connections = new Connections(ORIGIN, 1, {})
  const [first, second, third] = [borrow(connections), borrow(connections), borrow(connections)]
  expect([second.taken, third.taken]).toEqual([[], []])
  connections.giveBack(first.taken[0] as Client)
  expect([second.taken, third.taken]).toEqual([first.taken, []])
  connections.giveBack(second.taken[0] as Client)
  expect(third.taken).toEqual(first.taken)
  await connections.destroy()
})

test('serves waiting borrowers after retire(), and closes connections behind them', async () => {
  const connections = new Connections(ORIGIN, 1, {})
  const [first, second] = [borrow(connections), borrow(connections)]
  const connection = first.taken[0] as Client
  connections.retire()
  connections.giveBack(connection)
  expect([second.taken, connection.closed]).toEqual([[connection], false])
  connections.giveBack(connection)
  expect(connection.closed).toBe(true)
})

test('rejects waiting borrowers on destroy()', async () => {
  const connections = new Connections(ORIGIN, 1, {})
  const [first, second] = [borrow(connections), borrow(connections)]
  await connections.destroy()
  expect(second.refused.map(({ message }) => message)).toEqual(['the connections are closed'])
  expect((first.taken[0] as Client).destroyed).toBe(true)
})

test('replaces a failed connection for the waiting borrower', async () => {
  const connections = new Connections(ORIGIN, 1, {})
  const [first, second] = [borrow(connections), borrow(connections)]
  const failed = first.taken[0] as Client
  connections.discard(failed)
  // Not within the failure's own tick.
  expect([second.taken, failed.destroyed]).toEqual([[], false])
  await Promise.resolve()
  expect([second.taken.length, second.taken[0] === failed, failed.destroyed]).toEqual([1, false, true])
  await connections.destroy()
})

test('skips borrowers that withdrew, and lends nothing after destroy()', async () => {
  const connections = new Connections(ORIGIN, 1, {})
  const [first, second, third] = [borrow(connections), borrow(connections), borrow(connections)]
  connections.withdraw(second)
  connections.giveBack(first.taken[0] as Client)
  expect([second.taken, third.taken]).toEqual([[], first.taken])
  await connections.destroy()
  const late = borrow(connections)
  await Promise.resolve()
  expect([late.taken, late.refused.length]).toEqual([[], 1])
  // A call that ends now must not throw.
  connections.giveBack(third.taken[0] as Client)
})
