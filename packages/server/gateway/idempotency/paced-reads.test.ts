import { afterEach, beforeEach, expect, test } from 'vitest'
import { PacedReads } from './paced-reads.ts'

const LARGE = 16 * 1024 * 1024

let reads: PacedReads
beforeEach(() => {
  reads = new PacedReads()
})
afterEach(() => reads.close())

const late = (): Error => new Error('late')
const run = <Result>(environment: string, read: () => Promise<Result>, bytes = LARGE, timeoutMs = 60_000) =>
  reads.run(environment, bytes, read, timeoutMs, late)

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
