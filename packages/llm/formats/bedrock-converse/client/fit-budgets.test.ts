import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { measureMs } from '../../../testing/measure-ms.ts'
import { fitBudgets } from './fit-budgets.ts'

const CAPPED = { maxOutputTokens: 4_000 }

test('fits a budget to the output cap, and leaves out what has no room, beside other fields', () => {
  const thinking = { type: 'enabled', budget_tokens: 5_000 }
  const given = { a: 1, thinking, b: 2 }
  expect(fitBudgets({ additionalModelRequestFields: given }, CAPPED)).toEqual({
    fields: { a: 1, b: 2, thinking: { type: 'enabled', budget_tokens: 2_000 } },
    left: [],
  })
  expect(fitBudgets({ additionalModelRequestFields: given }, { maxOutputTokens: 100 })).toEqual({
    fields: { a: 1, b: 2 },
    left: ['additionalModelRequestFields.thinking'],
  })
  expect(given).toEqual({ a: 1, thinking, b: 2 })
})

test('does not copy fields without such a budget, of which there may be many', () => {
  const names = Array.from({ length: 60_000 }, (_, at) => [`n${at}`, at])
  const fields = Object.fromEntries(names) as JsonObject
  const usedMs = measureMs(() => {
    for (let target = 0; target < 20; target++) {
      expect(fitBudgets({ additionalModelRequestFields: fields }, CAPPED).fields).toBe(fields)
    }
  })
  expect(usedMs).toBeLessThan(20)
})
