import { expect, test } from 'vitest'
import { createRandomId, isUuid, openIds } from './ids.ts'
import { systemRandom } from './random.ts'

test('generates version 7 UUIDs that contain the time and are ordered by it', () => {
  let now = 1_790_000_000_000
  const newId = openIds({ now: () => now }, systemRandom)
  const ids = Array.from({ length: 1000 }, () => {
    now++
    return newId()
  })
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect([...ids].sort()).toEqual(ids)
  expect(Number.parseInt((ids[0] as string).replaceAll('-', '').slice(0, 12), 16)).toBe(1_790_000_000_001)
})

test('generates different ids in one millisecond', () => {
  const newId = openIds({ now: () => 1 }, systemRandom)
  expect(new Set(Array.from({ length: 10_000 }, newId)).size).toBe(10_000)
})

test('accepts UUIDs of versions 1 to 8, all zeros and all f as path parameters, and nothing else', () => {
  for (const version of '12345678') {
    expect(isUuid(`00000000-0000-${version}000-8000-000000000000`)).toBe(true)
  }
  expect(isUuid('00000000-0000-0000-0000-000000000000')).toBe(true)
  expect(isUuid('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe(true)
  for (const text of [
    '00000000-0000-9000-8000-000000000000',
    '00000000-0000-4000-7000-000000000000',
    '00000000-0000-4000-c000-000000000000',
    '0000000000004000800000000000000000',
    'x0000000-0000-4000-8000-000000000000',
    '00000000-0000-4000-8000-000000000000 ',
    '',
  ]) {
    expect(isUuid(text)).toBe(false)
  }
})

test('makes random UUIDs of version 4, all different, that a path parameter accepts', () => {
  const ids = Array.from({ length: 1000 }, () => createRandomId(systemRandom))
  expect(new Set(ids).size).toBe(1000)
  for (const id of ids) {
    expect(isUuid(id)).toBe(true)
    expect(id).toMatch(/^.{14}4.{4}[89ab]/)
  }
  expect(createRandomId({ bytes: length => Buffer.alloc(length, 0xff) })).toBe(
    'ffffffff-ffff-4fff-bfff-ffffffffffff',
  )
})
