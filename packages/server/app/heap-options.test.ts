import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { setHeapOptions } from './heap-options.ts'

function optionsOf(version: string): string[] {
  const set: string[] = []
  setHeapOptions(version, option => void set.push(option))
  return set
}

test('only Node 24 gets options', () => {
  expect(['20.20.2', '22.23.3', '26.0.0'].flatMap(optionsOf)).toEqual([])
  expect(optionsOf('24.21.0')).toContain('--external-memory-accounted-in-global-limit')
})

test('the Node that runs this knows each of its options', () => {
  const { node } = process.versions
  const options = optionsOf(node)
  expect(options).toHaveLength(node.startsWith('24.') ? 3 : 0)
  // Node does not start with an unknown one, but ignores it where it is set later.
  for (const option of options) execFileSync(process.execPath, [option, '-e', '0'])
})
