import { beforeEach, expect, test } from 'vitest'
import { PacedReads } from './paced-reads.ts'

const LARGE = 16 * 1024 * 1024

let reads: PacedReads
beforeEach(() => {
  reads = new PacedReads()
})

const late = (): Error => new Error('late')
const run = <Result>(environmentId: string, read: () => Promise<Result>, bytes = LARGE, timeoutMs = 60_000) =>
  reads.run({ orgId: 'o', environmentId }, bytes, read, timeoutMs, late)

test('reads one large answer at a time, and those of environments in turns', async () => {
  const order: string[] = []
  let running = 0
  const read = (name: string) => async () => {
    expect(++running).toBe(1)
    order.push(name)
    await new Promise(resolve => setImmediate(resolve))
    running--
  }
  const busy = Array.from({ length: 5 }, (_, n) => run('busy', read(`busy ${n}`)))
  const other = [run('other', read('other 0')), run('other', read('other 1'))]
  await Promise.all([...busy, ...other])
  expect(order).toEqual(['busy 0', 'busy 1', 'other 0', 'busy 2', 'other 1', 'busy 3', 'busy 4'])
})

test('an organization with many environments has one turn', async () => {
  const order: string[] = []
  const read = (orgId: string, environmentId: string) => {
    const note = async (): Promise<void> => void order.push(environmentId)
    return reads.run({ orgId, environmentId }, LARGE, note, 60_000, late)
  }
  const busy = ['b0', 'b1', 'b2', 'b3', 'b4'].map(environment => read('busy', environment))
  const other = ['o0', 'o0'].map(environment => read('other', environment))
  await Promise.all([...busy, ...other])
  expect(order).toEqual(['b0', 'b1', 'o0', 'b2', 'o0', 'b3', 'b4'])
})

test('reads a small answer at once', async () => {
  let finish = (): void => {}
  const first = run('a', () => new Promise<void>(resolve => void (finish = resolve)))
  expect(await run('a', async () => 'small', 1024)).toBe('small')
  finish()
  await first
})

test('goes on after a read that fails, and gives up those that waited too long', async () => {
  await expect(run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  const slow = run('a', async () => 'slow')
  const expired = run('a', async () => 'never', LARGE, -1)
  const next = run('a', async () => 'next')
  expect(await slow).toBe('slow')
  await expect(expired).rejects.toThrow('late')
  expect(await next).toBe('next')
})
