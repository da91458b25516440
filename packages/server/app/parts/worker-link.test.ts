import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { throwLater } from '../../core/on-exception.ts'
import { createRegistry } from '../../http/metrics/metrics.ts'
import { ProcessLedger } from '../../ledger/process/process-ledger.ts'
import { makeMeter, openSeeds, toRequest } from '../../ledger/testing/make-meter.ts'
import { connectCancellations } from '../../workers/messages/cancellations.ts'
import { connectCircuits } from '../../workers/messages/circuit-messages.ts'
import { connectConfigChanges } from '../../workers/messages/config-changes.ts'
import { connectMetrics } from '../../workers/messages/metrics.ts'
import { openSupervisorLink } from '../workers/supervisor-link.ts'
import { openWorkerLink, type WorkerLink } from './worker-link.ts'

test('workers that are linked to one supervisor share limits, cancels, circuits, changes and metrics', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rideau-link-'))
  const common = { log: () => {}, onException: throwLater }
  const supervisor = await openSupervisorLink({
    ...common,
    folder,
    clock: systemClock,
    ledger: new ProcessLedger({
      owner: 'supervisor',
      seeds: openSeeds(),
      onThresholdCrossed: () => {},
      openedAt: 0,
      hasWorkers: true,
    }),
  })
  const open = (worker: string): Promise<WorkerLink> =>
    openWorkerLink({ ...common, path: supervisor.path, worker })
  const [one, two] = [await open('one'), await open('two')]
  const limit = [makeMeter('concurrency', 1)]
  expect(await one.counting.ledger.reserve(toRequest('a', limit))).toMatchObject({ isAdmitted: true })
  expect(await two.counting.ledger.reserve(toRequest('b', limit))).toMatchObject({ isAdmitted: false })
  expect([one, two].map(({ counting }) => counting.countReservations())).toEqual([1, 0])

  const cancel = connectCancellations(one.calls, { ...common, cancelLocal: () => false })
  connectCancellations(two.calls, { ...common, cancelLocal: (_, requestId) => requestId === 'b' })
  expect(await cancel('environment', 'b', null)).toBe(true)

  const name = { orgId: 'o', credentialId: 'c', provider: 'p', model: 'm' }
  connectCircuits(one.calls, () => {}).publish({ ...name, change: 'rest', restMs: 60_000, updatedAt: 0 })
  const learned: string[] = []
  connectCircuits(two.calls, ({ change }) => void learned.push(change))
  // Maybe twice: as an update, and as what was known when it asked.
  await expect.poll(() => learned).toContain('rest')

  const changed: string[] = []
  const onChange = (id: string): void => void changed.push(id)
  connectConfigChanges(two.calls, { onChange, onLost: () => {}, onRestored: () => {} })
  supervisor.configChanges.publish('environment')
  await supervisor.configChanges.barrier()
  expect(changed).toEqual(['environment'])

  for (const { calls } of [one, two]) {
    const registry = createRegistry([{ name: 'open', help: 'Open.', kind: 'gauge', read: () => 2 }])
    connectMetrics(calls, () => registry.getMetricsAsJSON())
  }
  const merged = await supervisor.metrics.merge(createRegistry([]))
  expect(await merged.metrics()).toContain('open 4')

  await Promise.all([one.close(), two.close()])
  await supervisor.close()
  rmSync(folder, { recursive: true })
})
