import { expect, test } from 'vitest'
import type { ShareOwner } from '../../core/admission/connection-shares.ts'
import { CallerDebts } from './caller-debts.ts'

const keyOf = (keyId: string): ShareOwner => ({
  environment: undefined,
  caller: { keyId },
  endUser: undefined,
})
const tokenOf = (keyId: string, id: string): ShareOwner => ({
  environment: undefined,
  caller: { keyId, endUser: { id } },
  endUser: { id },
})

test('adds debts up, and time pays them', () => {
  const debts = new CallerDebts(5_000, 0)
  debts.add(keyOf('a'), 100, 1_000)
  debts.add(keyOf('a'), 200, 1_050)
  expect(debts.waitMs(keyOf('a'), 1_050)).toBe(250)
  expect(debts.waitMs(keyOf('a'), 1_200)).toBe(100)
  expect(debts.waitMs(keyOf('a'), 1_300)).toBe(0)
  debts.add(keyOf('a'), 10, 9_000)
  expect(debts.waitMs(keyOf('a'), 9_000)).toBe(10)
})

test('no debt exceeds the largest', () => {
  const debts = new CallerDebts(5_000, 0)
  for (let at = 0; at < 100; at++) debts.add(keyOf('a'), 1_000, 0)
  expect(debts.waitMs(keyOf('a'), 0)).toBe(5_000)
})

test('what is free of a debt need not be waited for', () => {
  const debts = new CallerDebts(5_000, 1_000)
  debts.add(keyOf('a'), 900, 0)
  expect(debts.waitMs(keyOf('a'), 0)).toBe(0)
  debts.add(keyOf('a'), 300, 0)
  expect(debts.waitMs(keyOf('a'), 0)).toBe(200)
})

test('keys, and the end users of a key with tokens of their own, do not pay for each other', () => {
  const debts = new CallerDebts(5_000, 0)
  debts.add(tokenOf('a', 'ada'), 100, 0)
  expect(debts.waitMs(tokenOf('a', 'ada'), 0)).toBe(100)
  expect(debts.waitMs(tokenOf('a', 'bob'), 0)).toBe(0)
  expect(debts.waitMs(keyOf('a'), 0)).toBe(0)
  expect(debts.waitMs(keyOf('b'), 0)).toBe(0)
})

test('has no debts of unknown callers', () => {
  const debts = new CallerDebts(5_000, 0)
  const unknown: ShareOwner = { environment: undefined, caller: undefined, endUser: undefined }
  debts.add(unknown, 100, 0)
  expect(debts.waitMs(unknown, 0)).toBe(0)
})

test('forgets paid debts first, then the oldest, once there are too many', () => {
  const debts = new CallerDebts(5_000, 0)
  debts.add(keyOf('paid'), 10, 0)
  for (let at = 0; at < 4_095; at++) debts.add(keyOf(`k${at}`), 1_000, 100)
  debts.add(keyOf('more'), 1_000, 100)
  expect(debts.waitMs(keyOf('k0'), 100)).toBe(1_000)
  debts.add(keyOf('most'), 1_000, 100)
  expect(debts.waitMs(keyOf('k0'), 100)).toBe(0)
  expect(debts.waitMs(keyOf('k1'), 100)).toBe(1_000)
  expect(debts.waitMs(keyOf('most'), 100)).toBe(1_000)
})
