import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type NotedCircuit, openCircuitsJob } from './circuits-job.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const circuit = (credentialId: string, model = 'm', isOpening = true): NotedCircuit => ({
  credentialId,
  model,
  isOpening,
})

function open(store: (circuit: NotedCircuit) => Promise<void> = async () => {}) {
  const stored: string[] = []
  const errors: object[] = []
  const job = openCircuitsJob<NotedCircuit>({
    store: async noted => {
      await store(noted)
      stored.push(`${noted.credentialId}/${noted.model}${noted.isOpening ? ' opening' : ''}`)
    },
    log: { error: details => void errors.push(details) },
  })
  return { job, stored, errors }
}

test('stores the last of several changes of a circuit, which opens if one of them opened it', async () => {
  const { job, stored } = open()
  job.note('a', circuit('c', 'm', true))
  job.note('a', circuit('c', 'm', false))
  job.note('a', circuit('c', 'other', false))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(stored).toEqual(['c/m opening', 'c/other'])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(stored).toHaveLength(2)
  await job.close()
})

test('stores circuits of organizations in turns, of which one may have a thousand waiting', async () => {
  const { job, stored, errors } = open()
  for (let n = 0; n < 1_500; n++) job.note('greedy', circuit('c', `m${n}`))
  job.note('other', circuit('d'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(stored.indexOf('d/m opening')).toBe(1)
  expect(stored).toHaveLength(1_001)
  expect(errors).toHaveLength(1)
  await job.close()
})

test('stores the circuits of others in the same run if one cannot be stored, and that one in a later run', async () => {
  let isDown = true
  const { job, stored, errors } = open(async ({ credentialId }) => {
    if (isDown && credentialId === 'bad') throw new Error('down')
  })
  job.note('a', circuit('bad'))
  job.note('b', circuit('good', 'one'))
  job.note('b', circuit('good', 'two'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(stored).toEqual(['good/one opening', 'good/two opening'])
  expect(errors).toMatchObject([{ orgId: 'a', waiting: 3 }])
  isDown = false
  await job.close()
  expect(stored.at(-1)).toBe('bad/m opening')
})

test('stores what changed while storing the same circuit failed, as opening', async () => {
  let failures = 1
  const { job, stored } = open(async () => {
    if (failures-- <= 0) return
    job.note('a', circuit('c', 'm', false))
    throw new Error('down')
  })
  job.note('a', circuit('c', 'm', true))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(stored).toEqual(['c/m opening'])
  await job.close()
})
