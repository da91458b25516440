import { expect, test } from 'vitest'
import { insufficientRole } from './granted-access.ts'

test('no role is higher than owner', () => {
  expect(insufficientRole('owner').message).toBe('This needs the role owner.')
  expect(insufficientRole('admin').message).toBe('This needs the role admin or a higher one.')
})
