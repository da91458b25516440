import { expect, test } from 'vitest'
import { MergedMetrics, type ProcessMetrics } from './merged-metrics.ts'
import { createRegistry, type Reading } from './metrics.ts'

function listReadings(served: number, refused: number, ready: number, circuits: number): Reading[] {
  return [
    { name: 'open', help: 'Open.', kind: 'gauge', read: () => served },
    { name: 'ready', help: 'Ready.', kind: 'gauge', merge: 'min', read: () => ready },
    { name: 'circuits', help: 'Circuits.', kind: 'gauge', merge: 'max', read: () => circuits },
    {
      name: 'requests_total',
      help: 'Requests.',
      kind: 'counter',
      read: () => ({ label: 'status', values: { '2xx': served, '4xx': refused } }),
    },
  ]
}

const metricsOf = async (...values: Parameters<typeof listReadings>): Promise<ProcessMetrics> =>
  // As a worker sends them.
  JSON.parse(JSON.stringify(await createRegistry(listReadings(...values)).getMetricsAsJSON()))

test('shows the sums of all workers, the least readiness and the most circuits; counters never decrease', async () => {
  const workers = new Map([
    ['one', await metricsOf(3, 1, 1, 2)],
    ['two', await metricsOf(4, 0, 0, 1)],
  ])
  const merged = new MergedMetrics(async () => workers)
  const own = createRegistry([{ name: 'backlog', help: 'Backlog.', kind: 'gauge', read: () => 5 }])
  const show = async (): Promise<string[]> => {
    const text = await (await merged.merge(own)).metrics()
    return text.split('\n').filter(line => /^\w/.test(line))
  }
  expect(await show()).toEqual([
    'backlog 5',
    'open 7',
    'ready 0',
    'circuits 2',
    'requests_total{status="2xx"} 7',
    'requests_total{status="4xx"} 1',
  ])
  // A worker that is busy is shown as it was last.
  workers.delete('two')
  expect(await show()).toContain('open 7')
  merged.noteEnded('two')
  merged.noteEnded('one', await metricsOf(5, 1, 1, 2))
  workers.clear()
  workers.set('three', await metricsOf(1, 1, 1, 0))
  expect(await show()).toEqual([
    'backlog 5',
    'requests_total{status="2xx"} 10',
    'requests_total{status="4xx"} 2',
    'open 1',
    'ready 1',
    'circuits 0',
  ])
})

test('adds the histograms of all workers, bucket by bucket, and keeps those of ended ones', async () => {
  const histogramOf = async (buckets: number[], sum: number): Promise<ProcessMetrics> => {
    const labels = { provider: 'openai', stream: 'true' }
    const read = () => [{ labels, buckets, sum }]
    const registry = createRegistry([
      { name: 'seconds', help: 'Time.', kind: 'histogram', bounds: [0.5, 2], read },
    ])
    return JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()))
  }
  const workers = new Map([
    ['one', await histogramOf([1, 2, 0], 3)],
    ['two', await histogramOf([0, 1, 4], 50)],
  ])
  const merged = new MergedMetrics(async () => workers)
  const show = async (): Promise<string[]> =>
    (await (await merged.merge(createRegistry([]))).metrics())
      .split('\n')
      .filter(line => line !== '')
      .map(line => line.replace('provider="openai",stream="true"', '…'))
  const sums = [
    '# HELP seconds Time.',
    '# TYPE seconds histogram',
    'seconds_bucket{…,le="0.5"} 1',
    'seconds_bucket{…,le="2"} 4',
    'seconds_bucket{…,le="+Inf"} 8',
    'seconds_sum{…} 53',
    'seconds_count{…} 8',
  ]
  expect(await show()).toEqual(sums)
  merged.noteEnded('one')
  merged.noteEnded('two')
  workers.clear()
  expect(await show()).toEqual(sums)
})
