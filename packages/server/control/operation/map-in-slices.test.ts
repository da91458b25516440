import { expect, test } from 'vitest'
import { mapInSlices } from './map-in-slices.ts'

test('converts in order, with other tasks of the event loop between slices', async () => {
  const log: string[] = []
  let isOver = false
  const others = (): void => {
    log.push('other')
    if (!isOver) setImmediate(others)
  }
  setImmediate(others)
  const busy = (item: number): string => {
    log.push('convert')
    const until = performance.now() + 3
    while (performance.now() < until);
    return `${item}`
  }
  expect(await mapInSlices([1, 2, 3, 4], busy, 'an organization')).toEqual(['1', '2', '3', '4'])
  isOver = true
  expect(log.filter(entry => entry === 'convert')).toHaveLength(4)
  for (let at = 1; at < log.length; at++) if (log[at] === 'convert') expect(log[at - 1]).toBe('other')
})

test('converts an empty list of no known organization', async () => {
  expect(await mapInSlices([], String, undefined)).toEqual([])
})
