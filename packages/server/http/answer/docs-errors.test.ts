import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FAULTS } from '../../core/fault-table.ts'
import { errorMarkdown } from './docs-errors.ts'

const root = new URL('../../../../', import.meta.url)
const own = Object.entries(FAULTS).map(([code, { status, type }]) => `${code} ${status} ${type}`)

/** Returns the rows `| code | status | type | …` of the first table below a heading. */
function rowsBelow(text: string, heading: string): string[] {
  const from = text.indexOf(`\n${heading}\n`)
  if (from === -1) throw new Error(`${heading} is missing`)
  const end = text.indexOf('\n## ', from + heading.length)
  const section = text.slice(from, end === -1 ? undefined : end)
  return [...section.matchAll(/^\| (\w+) \| (\d{3}) \| (\w+) \|/gm)].map(
    ([, code, status, type]) => `${code} ${status} ${type}`,
  )
}

test('docs/errors.md equals the output of the fault table', () => {
  expect(readFileSync(new URL('docs/errors.md', root), 'utf8')).toBe(errorMarkdown())
})

test('docs/errors.md lists every code once, with its status and type', () => {
  const rows = [...errorMarkdown().matchAll(/^\| <a id="(\w+)"><\/a>`(\w+)` \| (\d{3}) \| `(\w+)` \|/gm)].map(
    ([, anchor, code, status, type]) => {
      expect(anchor).toBe(code)
      return `${code} ${status} ${type}`
    },
  )
  expect(rows).toEqual(own)
})

describe('the specification', () => {
  const spec = new URL('../shared/spec.md', root)
  const contract = new URL('../shared/contract.md', root)
  const isThere = existsSync(spec) && existsSync(contract)
  if (!isThere) console.log('skipped: 1 test of the fault table against the specification, which is not here')

  test.skipIf(!isThere)('has every code of the table with the same status and type, and no other', () => {
    const specified = [
      ...rowsBelow(readFileSync(spec, 'utf8'), '## Errors'),
      ...rowsBelow(readFileSync(contract, 'utf8'), '## 2. Error catalogue'),
    ]
    expect(specified.length).toBeGreaterThan(50)
    expect([...own].sort()).toEqual([...specified].sort())
  })
})
