import { expect, test } from 'vitest'
import { toTable } from './to-table.ts'

test('a table has its entries and no properties of Object.prototype', () => {
  const table: Record<string, number> = toTable({ a: 1 })
  expect(table).toEqual({ a: 1 })
  for (const word of ['constructor', 'toString', 'valueOf', '__proto__', 'b'])
    expect(table[word]).toBeUndefined()
  table.__proto__ = 2
  expect([Object.keys(table), table.toString]).toEqual([['a', '__proto__'], undefined])
})
