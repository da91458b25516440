import { expect, test } from 'vitest'
import { HEADER_BYTES } from '../../workers/channel/frames.ts'
import type { Verdict } from '../ledger.ts'
import { ByteWriter } from './byte-writer.ts'
import { LedgerSession, type ServedLedger } from './ledger-session.ts'
import { DEFINE_METERS, DEFINE_SUBJECT, RELEASE, RESERVE, SETTLE } from './operations.ts'
import { WaitingReservations } from './waiting-reservations.ts'

function open() {
  const order: string[] = []
  const ledger = {
    reserve({ id }): Verdict {
      order.push(`reserve ${id}`)
      return { isAdmitted: true, statuses: [] } as unknown as Verdict
    },
    settle: id => void order.push(`settle ${id}`),
    release: id => void order.push(`release ${id}`),
    health: () => ({ isHealthy: true, reasons: [] }),
  } as Pick<ServedLedger, 'reserve' | 'settle' | 'release' | 'health'> as ServedLedger
  const onException = (error: unknown): never => {
    throw error
  }
  const reservations = new WaitingReservations(onException)
  const openSession = (worker: string) => {
    const peer = { worker, pid: 1, isOpen: true, schedule: () => {} }
    const session = new LedgerSession(peer, ledger, { reservations, onException, onClosed: () => {} })
    session.receive(
      write(writer => {
        writer.uint8(DEFINE_METERS)
        writer.text('[]')
        writer.uint8(DEFINE_SUBJECT)
        writer.text('{}')
      }),
    )
    return { session, peer }
  }
  return { order, openSession }
}

function write(operations: (writer: ByteWriter) => void): Buffer {
  const writer = new ByteWriter()
  operations(writer)
  return writer.takeFrame().subarray(HEADER_BYTES)
}

const reserve = (id: string): Buffer =>
  write(writer => {
    writer.uint8(RESERVE)
    for (const number of [1, 0, 0]) writer.uint32(number)
    for (const number of [0, 0, 60_000, 0, 0]) writer.double(number)
    writer.text(id)
  })
const settle = (id: string): Buffer =>
  write(writer => {
    writer.uint8(SETTLE)
    for (const flag of [1, 0]) writer.uint8(flag)
    for (const amount of [0, 0]) writer.double(amount)
    writer.text(id)
  })
const release = (id: string): Buffer =>
  write(writer => {
    writer.uint8(RELEASE)
    writer.text(id)
  })
const untilReserved = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('a settlement of one worker comes before a reservation of another whose socket was read first', async () => {
  const { order, openSession } = open()
  const [one, two] = [openSession('one'), openSession('two')]
  two.session.receive(reserve('next'))
  one.session.receive(settle('before'))
  await untilReserved()
  two.session.receive(reserve('later'))
  await untilReserved()
  expect(order).toEqual(['settle before', 'reserve next', 'reserve later'])
})

test('a reservation that its worker ends in the same tick is made before its end, once', async () => {
  const { order, openSession } = open()
  const { session } = openSession('one')
  session.receive(Buffer.concat([reserve('a'), release('a'), reserve('b')]))
  await untilReserved()
  expect(order).toEqual(['reserve a', 'release a', 'reserve b'])
})

test('nothing is reserved for a worker that has gone meanwhile', async () => {
  const { order, openSession } = open()
  const { session, peer } = openSession('one')
  session.receive(reserve('a'))
  peer.isOpen = false
  await untilReserved()
  expect(order).toEqual([])
})
