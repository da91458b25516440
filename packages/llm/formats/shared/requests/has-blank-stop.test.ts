import { expect, test } from 'vitest'
import { measureMs } from '../../../testing/measure-ms.ts'
import { hasBlankStop } from './has-blank-stop.ts'

test.each([
  [[], false],
  [['END'], false],
  [['END', ' \n'], true],
  [[''], true],
  [[`${' '.repeat(1_023)}x`], false],
  [[`${' '.repeat(1_024)}x`], true],
])('whether a stop sequence is blank: %j', (stop, isBlank) => {
  expect(hasBlankStop({ stop })).toBe(isBlank)
})

test('of a sequence of 32 MiB the beginning is read', () => {
  const stop = [Buffer.alloc(32 * 1024 * 1024, ' ').toString('latin1')]
  const usedMs = measureMs(() => {
    expect(hasBlankStop({ stop })).toBe(true)
  })
  expect(usedMs).toBeLessThan(20)
})
