import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { setHeapOptions } from './heap-options.ts'

function optionsOf(version: string): string[] {
  const set: string[] = []
  setHeapOptions(version, option => void set.push(option))
  return set
}

test('only versions that were measured get options', () => {
  expect(['18.20.8', '26.0.0'].flatMap(optionsOf)).toEqual([])
  const ofAll = ['--no-allocation-site-pretenuring', '--heap-growing-percent=200']
  expect(['20.20.2', '22.23.3'].map(optionsOf)).toEqual([ofAll, ofAll])
  expect(optionsOf('24.21.0')).toEqual(expect.arrayContaining(ofAll))
  expect(optionsOf('24.21.0')).toContain('--external-memory-accounted-in-global-limit')
})

test('the Node that runs this knows each of its options', () => {
  const options = optionsOf(process.versions.node)
  expect(options.length).toBeGreaterThan(0)
  // Node does not start with an unknown one, but ignores it where it is set later.
  for (const option of options) execFileSync(process.execPath, [option, '-e', '0'])
})
