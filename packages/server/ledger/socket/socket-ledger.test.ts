import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MAX_FRAME_BYTES } from '../../workers/channel/frames.ts'
import { encodeHello } from '../../workers/channel/hello.ts'
import type { WorkerChannel } from '../../workers/channel/worker-channel.ts'
import type { Verdict } from '../ledger.ts'
import { makeMeter, toRequest as toRequestOf, toUsage } from '../testing/make-meter.ts'
import {
  openTestSupervisor,
  openTestWorker,
  type TestSupervisor,
  type TestWorker,
} from '../testing/open-socket-ledger.ts'
import { UsageDatabase } from '../testing/usage-database.ts'

const budget = makeMeter('budget', 100)
const meters = [budget]

describe('the ledger of a worker', () => {
  let database: UsageDatabase
  let supervisor: TestSupervisor
  let worker: TestWorker
  let channels: WorkerChannel[]

  beforeEach(async () => {
    database = new UsageDatabase()
    supervisor = await openTestSupervisor({ seeds: database })
    worker = await openTestWorker(supervisor.path, 'worker')
    channels = [worker.channel]
  })
  afterEach(async () => {
    for (const channel of channels) channel.close()
    await supervisor.close()
  })

  const toRequest = (id: string, nanoUsd: number) =>
    toRequestOf(id, meters, { amounts: { tokens: 0, nanoUsd } })
  const reserve = async (id: string, nanoUsd: number): Promise<Verdict> =>
    await worker.ledger.reserve(toRequest(id, nanoUsd))
  const sums = async (): Promise<unknown> => {
    const [status] = (await supervisor.ledger.read(meters, Date.now())) ?? []
    return [status?.settled, status?.reserved]
  }
  /** Ends the worker's connection from the supervisor's side, as a second connection of the same name does. */
  const disconnect = async (): Promise<void> => {
    const socket = connect(supervisor.path)
    const hello = Buffer.from(encodeHello({ worker: 'worker', pid: 0 }))
    const header = Buffer.alloc(5)
    header.writeUInt32LE(hello.length + 1, 0)
    socket.write(Buffer.concat([header, hello]))
    await expect.poll(() => worker.channel.isOpen, { interval: 1 }).toBe(false)
    socket.destroy()
  }
  const untilOpen = async (): Promise<void> => expect(await worker.channel.whenOpen(10_000)).toBe(true)

  test('is unavailable without its supervisor and says why; running requests keep what they have', async () => {
    expect(worker.ledger.health()).toEqual({ isHealthy: true, reasons: [] })
    await reserve('running', 10)
    await supervisor.close()
    await expect.poll(() => worker.ledger.health().isHealthy).toBe(false)
    expect(worker.ledger.health().reasons).toEqual([expect.stringContaining('the supervisor')])
    expect(await reserve('new', 1)).toEqual({
      isAdmitted: false,
      unavailable: expect.stringContaining('unreachable'),
    })
    expect(await worker.ledger.read(meters, Date.now())).toBeUndefined()
    const same = await worker.ledger.extend('running', { tokens: 0, nanoUsd: 10 }, Date.now(), 60_000)
    expect(same).toMatchObject({ isAdmitted: true, statuses: [{ reserved: 10 }] })
    const more = await worker.ledger.extend('running', { tokens: 0, nanoUsd: 11 }, Date.now(), 60_000)
    expect(more).toHaveProperty('unavailable')
    await worker.ledger.settle('running', toUsage())
    supervisor = await openTestSupervisor()
  })

  test('delivers what was settled and released without a connection, each once', async () => {
    await reserve('settled', 10)
    await reserve('released', 20)
    await reserve('running', 30)
    await disconnect()
    await worker.ledger.settle('settled', toUsage({ nanoUsd: 7 }))
    await worker.ledger.release('released')
    expect(await sums()).toEqual([0, 60])
    await untilOpen()
    await expect.poll(sums).toEqual([7, 30])
    await worker.ledger.settle('running', toUsage({ nanoUsd: 9 }))
    expect(await sums()).toEqual([16, 0])
  })

  test('gives back what was reserved by a call whose answer was lost', async () => {
    let answer = (): void => {}
    database.beforeSnapshot = () => new Promise(resolve => void (answer = resolve))
    const waiting = reserve('lost', 40)
    await expect.poll(() => database.reads.length).toBe(1)
    await disconnect()
    expect(await waiting).toHaveProperty('unavailable')
    await untilOpen()
    answer()
    await expect.poll(() => supervisor.ledger.reservationCount).toBe(0)
    expect(await sums()).toEqual([0, 0])
  })

  test('renews the lease of a request that ran on without a connection', async () => {
    await reserve('running', 10)
    await disconnect()
    await untilOpen()
    const verdict = await worker.ledger.extend('running', { tokens: 0, nanoUsd: 12 }, Date.now(), 60_000)
    expect(verdict).toMatchObject({ isAdmitted: true, statuses: [{ reserved: 12 }] })
  })

  test('counts a request once whose record is stored before its settlement arrives, in a new counter too', async () => {
    const other = makeMeter('budget', 1000, { key: 'new' })
    await reserve('a', 10)
    // The worker journals the record first, and the supervisor stores it at any time.
    database.write('a', Date.now(), toUsage({ nanoUsd: 7 }))
    database.store()
    expect(await supervisor.ledger.read([other], Date.now())).toMatchObject([{ settled: 0 }])
    await worker.ledger.settle('a', toUsage({ nanoUsd: 7 }))
    expect(await supervisor.ledger.read([other], Date.now())).toMatchObject([{ settled: 7 }])
    expect(await sums()).toEqual([7, 0])
  })

  test('tells a worker when the ledger of the supervisor counts alone', async () => {
    const health = { isHealthy: false, reasons: ['Redis is unreachable'] }
    supervisor.ledger.health = () => health
    await expect.poll(() => worker.ledger.health()).toEqual(health)
  })

  test('refuses an amount that is no number without harm to its connection', async () => {
    await expect(reserve('broken', Number.NaN)).rejects.toThrow('an amount must be')
    expect(await reserve('next', 1)).toMatchObject({ isAdmitted: true })
    expect(worker.channel.isOpen).toBe(true)
  })

  test('keeps working when callers use more lists of meters than a connection keeps', async () => {
    for (let block = 0; block < 21; block++) {
      const ids = Array.from({ length: 1000 }, (_, index) => `${block}/${index}`)
      const verdicts = await Promise.all(
        ids.map(id =>
          worker.ledger.reserve(toRequestOf(id, [makeMeter('concurrency', 1000, { key: `c${id}` })])),
        ),
      )
      expect(verdicts.every(({ isAdmitted }) => isAdmitted)).toBe(true)
      await Promise.all(ids.map(id => worker.ledger.settle(id, toUsage())))
    }
    expect(supervisor.ledger.reservationCount).toBe(0)
    expect(worker.ledger.reservationCount).toBe(0)
  })

  test('takes requests with thousands of meters each, more at once than fit into a frame', async () => {
    const toLong = (id: string) =>
      toRequestOf(
        id,
        Array.from({ length: 1_000 }, (_, at) =>
          makeMeter('concurrency', 9, { key: `${id} ${'x'.repeat(60)} ${at}` }),
        ),
      )
    const requests = Array.from({ length: 40 }, (_, at) => toLong(`long ${at}`))
    expect(JSON.stringify(requests.map(({ meters: list }) => list)).length).toBeGreaterThan(MAX_FRAME_BYTES)
    await reserve('before', 10)
    const verdicts = requests.map(request => worker.ledger.reserve(request))
    // In the same frames as what follows: it is done when its own frame was acknowledged, not an earlier one.
    const settled = worker.ledger.settle('before', toUsage({ nanoUsd: 7 }))
    const after = requests.map(({ id, meters: list }) =>
      worker.ledger.reserve({ ...toLong(`after ${id}`), meters: list }),
    )
    await settled
    expect(await sums()).toEqual([7, 0])
    for (const verdict of [...verdicts, ...after]) expect(await verdict).toMatchObject({ isAdmitted: true })
    expect(worker.channel.isOpen).toBe(true)
    expect(supervisor.ledger.reservationCount).toBe(80)
  })
})
