import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CircuitUpdate } from '../../core/attempts/circuit-sharing.ts'
import { SupervisorCalls } from '../channel/supervisor-calls.ts'
import { SupervisorChannel } from '../channel/supervisor-channel.ts'
import { WorkerCalls } from '../channel/worker-calls.ts'
import { WorkerChannel } from '../channel/worker-channel.ts'
import { connectCancellations, serveCancellations } from './cancellations.ts'
import { connectCircuits, serveCircuits } from './circuit-messages.ts'
import { connectConfigChanges, serveConfigChanges } from './config-changes.ts'
import { connectHoldings, serveHoldings } from './holdings.ts'
import { flushOthers, handleFlush, serveFlush } from './journals.ts'
import { connectLoadedSnapshots, serveLoadedSnapshots } from './loaded-snapshots.ts'
import { connectLoads, serveLoads } from './loads.ts'
import { connectMetrics, serveMetrics } from './metrics.ts'
import { connectRequestIds, serveRequestIds } from './request-ids.ts'

describe('workers of one supervisor', () => {
  let folder: string
  let channel: SupervisorChannel
  let supervisor: SupervisorCalls
  let workers: WorkerChannel[]
  let exceptions: string[]

  const onException = (error: unknown): void => void exceptions.push((error as Error).message)
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rideau-channel-'))
    channel = await SupervisorChannel.open({ folder, log: () => {} })
    supervisor = new SupervisorCalls(channel, onException)
    workers = []
    exceptions = []
  })
  afterEach(async () => {
    for (const worker of workers) worker.close()
    await channel.close()
    rmSync(folder, { recursive: true })
  })

  /** Opens a worker. `connect` runs in the tick that creates its channel. */
  const openWorker = async <T>(worker: string, connect: (calls: WorkerCalls) => T): Promise<T> => {
    const own = new WorkerChannel({ path: channel.path, worker, log: () => {} })
    workers.push(own)
    const result = connect(new WorkerCalls(own, onException))
    expect(await own.whenOpen(10_000)).toBe(true)
    return result
  }
  const openCanceler = (worker: string, running: readonly string[], canceled: string[]) =>
    openWorker(worker, calls =>
      connectCancellations(calls, {
        cancelLocal: (...request) => {
          const isRunning = running.includes(request.filter(Boolean).join('/'))
          if (isRunning) canceled.push(`${worker} ${request[1]}`)
          return isRunning
        },
        log: () => {},
      }),
    )

  test('cancel a request in the worker that runs it, only in its environment and of the end user that is named', async () => {
    serveCancellations(supervisor)
    const canceled: string[] = []
    const cancel = await openCanceler('one', ['e1/r0'], canceled)
    await openCanceler('two', ['e1/r1'], canceled)
    await openCanceler('three', ['e2/r2/alice'], canceled)
    expect(await cancel('e1', 'r1', null)).toBe(true)
    expect(await cancel('e1', 'r2', 'alice')).toBe(false)
    expect(await cancel('e2', 'r2', 'bob')).toBe(false)
    expect(await cancel('e2', 'r2', 'alice')).toBe(true)
    // The worker itself has been asked before.
    expect(await cancel('e1', 'r0', null)).toBe(false)
    expect(canceled).toEqual(['two r1', 'three r2'])
    await channel.close()
    expect(await cancel('e1', 'r1', null)).toBe(false)
  })

  test('share a capacity: each learns what the others use, and forgets it of one that is gone', async () => {
    serveHoldings(supervisor)
    const open = async (worker: string) => {
      const capacities = [100, 6_400].map(capacity => ({ capacity, used: 0, elsewhere: 0 }))
      const own = await openWorker(worker, calls => connectHoldings(calls, capacities, onException))
      return { capacities, own, elsewhere: () => capacities.map(each => each.elsewhere) }
    }
    const [one, two, three] = [await open('one'), await open('two'), await open('three')]
    for (const [worker, used] of [[one, 50] as const, [two, 20] as const]) {
      for (const capacity of worker.capacities) capacity.used = used * (capacity.capacity / 100)
    }
    await expect.poll(one.elsewhere).toEqual([20, 1_280])
    await expect.poll(two.elsewhere).toEqual([50, 3_200])
    await expect.poll(three.elsewhere).toEqual([70, 4_480])
    // One of six thousand is told with the next report only.
    for (const capacity of two.capacities) capacity.used++
    await expect.poll(one.elsewhere).toEqual([21, 1_281])
    two.own.close()
    workers[1]?.close()
    await expect.poll(three.elsewhere, { timeout: 10_000 }).toEqual([50, 3_200])
    await channel.close()
    await expect.poll(three.elsewhere, { timeout: 10_000 }).toEqual([0, 0])
    one.own.close()
    three.own.close()
    expect(exceptions).toEqual([])
  })

  test('never give an id of a caller to two requests of an environment', async () => {
    serveRequestIds(supervisor)
    const one = await openWorker('one', connectRequestIds)
    const two = await openWorker('two', connectRequestIds)
    expect(await one('e1', 'id')).toBe(true)
    expect([await one('e1', 'id'), await two('e1', 'id')]).toEqual([false, false])
    expect(await two('e2', 'id')).toBe(true)
    const raced = await Promise.all([one('e1', 'raced'), two('e1', 'raced')])
    expect(raced.sort()).toEqual([false, true])
    await channel.close()
    expect(await one('e1', 'late')).toBe(false)
  })

  test('wait until the records of the others are stored', async () => {
    serveFlush(supervisor)
    const flushed: string[] = []
    const open = (worker: string) =>
      openWorker(worker, calls => {
        handleFlush(calls, async () => void flushed.push(worker))
        return calls
      })
    const one = await open('one')
    await open('two')
    await open('three')
    await flushOthers(one)
    expect(flushed.sort()).toEqual(['three', 'two'])
    await channel.close()
    await flushOthers(one)
  })

  test('learn what the circuits of the others do, those that start later too, and probe one at a time', async () => {
    let now = 1_000
    serveCircuits(supervisor, () => now)
    const name = { orgId: 'o', credentialId: 'c', provider: 'p', model: 'm' }
    const open = async (worker: string) => {
      const received: CircuitUpdate[] = []
      const sharing = await openWorker(worker, calls =>
        connectCircuits(calls, update => void received.push(update)),
      )
      return { sharing, received }
    }
    const [one, two] = [await open('one'), await open('two')]
    // Their questions for known circuits were answered.
    for (const { sharing } of [one, two]) await sharing.claimProbe({ ...name, model: 'none' }, 1)
    const update: CircuitUpdate = { ...name, change: 'open', retryInMs: 500, openForMs: 0, failureRate: 1 }
    const rest: CircuitUpdate = { ...name, model: 'other', change: 'rest', restMs: 300, updatedAt: 0 }
    one.sharing.publish(update)
    one.sharing.publish(rest)
    await expect.poll(() => two.received).toEqual([update, rest])
    now += 100
    const three = await open('three')
    await expect
      .poll(() => three.received)
      .toEqual([
        { ...update, retryInMs: 400, openForMs: 100 },
        { ...rest, restMs: 200 },
      ])
    expect(one.received).toEqual([])
    expect(await one.sharing.claimProbe(name, 1000)).toBe(true)
    expect(await two.sharing.claimProbe(name, 1000)).toBe(false)
    two.sharing.releaseProbe(name)
    expect(await two.sharing.claimProbe(name, 1000)).toBe(false)
    one.sharing.releaseProbe(name)
    await expect.poll(() => two.sharing.claimProbe(name, 1000)).toBe(true)
    // The lease of a worker that was killed runs out.
    now += 1000
    expect(await three.sharing.claimProbe(name, 1000)).toBe(true)
    two.sharing.publish({ ...name, change: 'close' })
    await expect.poll(() => three.received.at(-1)).toEqual({ ...name, change: 'close' })
    const four = await open('four')
    await four.sharing.claimProbe({ ...name, model: 'none' }, 1)
    expect(four.received.map(({ model }) => model)).toEqual(['other'])
    await channel.close()
    expect(await one.sharing.claimProbe(name, 1000)).toBe(true)
  })

  test('that start later learn the circuits of every organization, though one has more than are kept', async () => {
    serveCircuits(supervisor, () => 1_000, 10)
    const one = await openWorker('one', calls => connectCircuits(calls, () => {}))
    const open = {
      provider: 'p',
      model: 'm',
      change: 'open',
      retryInMs: 500,
      openForMs: 0,
      failureRate: 1,
    } as const
    one.publish({ ...open, orgId: 'honest', credentialId: 'honest' })
    for (let n = 0; n < 20; n++) one.publish({ ...open, orgId: 'greedy', credentialId: `greedy ${n}` })
    // Answered once all of them have arrived.
    await one.claimProbe({ ...open, orgId: 'o', credentialId: 'none' }, 1)
    const received: string[] = []
    await openWorker('two', calls =>
      connectCircuits(calls, ({ credentialId }) => void received.push(credentialId)),
    )
    const newest = Array.from({ length: 9 }, (_, n) => `greedy ${n + 11}`)
    await expect.poll(() => received).toEqual(['honest', ...newest])
    await channel.close()
  })

  test('learn how many requests the others run, until those withdraw or end', async () => {
    serveLoads(supervisor)
    const [one, two] = [await openWorker('one', connectLoads), await openWorker('two', connectLoads)]
    expect(await one.report(5)).toEqual([])
    expect(await two.report(7)).toEqual([5])
    expect(await one.report(6)).toEqual([7])
    one.withdraw()
    await expect.poll(() => two.report(8)).toEqual([])
    expect(await one.report(1)).toEqual([8])
    workers[1]?.close()
    await expect.poll(() => one.report(2)).toEqual([])
    await channel.close()
    await expect(one.report(3)).rejects.toThrow()
  })

  test('learn what the others have loaded, those that start later the newest thousand', async () => {
    serveLoadedSnapshots(supervisor)
    const open = async (worker: string) => {
      const seen: unknown[] = []
      const tell = await openWorker(worker, calls =>
        connectLoadedSnapshots<readonly string[]>(calls, name => void seen.push(name)),
      )
      return { seen, tell }
    }
    const [one, two] = [await open('one'), await open('two')]
    one.tell(['key', 'first'])
    await expect.poll(() => two.seen).toEqual([['key', 'first']])
    for (let index = 0; index < 1_000; index++) two.tell(['end_user', 'e', `u${index}`])
    await expect.poll(() => one.seen.length).toBe(1_000)
    const { seen } = await open('three')
    await expect.poll(() => seen.length).toBe(1_000)
    expect(seen).not.toContainEqual(['key', 'first'])
    expect(two.seen).toHaveLength(1)
  })

  test('have applied a change of the configuration when its barrier resolves, and learn when changes are lost', async () => {
    const changes = serveConfigChanges(supervisor)
    const open = async (worker: string): Promise<string[]> => {
      const seen: string[] = []
      await openWorker(worker, calls =>
        connectConfigChanges(calls, {
          onChange: id => void seen.push(id),
          onLost: () => void seen.push('lost'),
          onRestored: () => void seen.push('restored'),
        }),
      )
      return seen
    }
    const [one, two] = [await open('one'), await open('two')]
    for (const seen of [one, two]) await expect.poll(() => seen).toEqual(['lost', 'restored'])
    for (let index = 0; index < 100; index++) changes.publish(`e${index}`)
    await changes.barrier()
    for (const seen of [one, two]) {
      expect(seen.slice(0, 3)).toEqual(['lost', 'restored', 'e0'])
      expect(seen).toHaveLength(102)
    }
    for (const id of ['a', 'b', 'a', 'a', 'b']) changes.publish(id)
    await expect.poll(() => one.slice(102)).toEqual(['a', 'b'])
    changes.publish('a')
    await changes.barrier()
    expect(one.slice(104)).toEqual(['a'])
    changes.setSubscribed(false)
    await changes.barrier()
    expect(one.at(-1)).toBe('lost')
    const three = await open('three')
    await changes.barrier()
    expect(three).toEqual(['lost'])
    changes.setSubscribed(true)
    await changes.barrier()
    expect(three).toEqual(['lost', 'restored'])
    await channel.close()
    await expect.poll(() => three.at(-1)).toBe('lost')
  })

  test('answer with their metrics by their names; one that fails or hangs is left out', async () => {
    const collect = serveMetrics<number>(supervisor)
    await openWorker('one', calls => connectMetrics(calls, async () => 1))
    await openWorker('two', calls => connectMetrics(calls, async () => 2))
    await openWorker('broken', calls => connectMetrics(calls, () => Promise.reject(new Error('broken'))))
    await openWorker('old', () => {})
    await openWorker('silent', calls => connectMetrics(calls, () => new Promise(() => {})))
    expect(await collect()).toEqual(
      new Map([
        ['one', 1],
        ['two', 2],
      ]),
    )
    expect(exceptions).toEqual(['broken'])
  })

  test('send and get bodies of several frames in order, and none that does not fit in one', async () => {
    const received: unknown[] = []
    supervisor.handle('text', body => void received.push((body as string).length))
    supervisor.handle('double', body => `${body}${body}`)
    const calls = await openWorker('one', each => each)
    const long = 'x'.repeat(3_000_000)
    for (let index = 0; index < 5; index++) calls.notify('text', long)
    expect(await calls.call('double', 'é\n', 10_000)).toBe('é\né\n')
    expect(received).toEqual(Array.from({ length: 5 }, () => long.length))
    expect(() => calls.notify('text', long.repeat(2))).toThrow('too long')
    expect(await calls.call('double', 1, 10_000)).toBe('11')
  })
})
