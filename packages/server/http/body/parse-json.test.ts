import { REQUEST_BOUNDS } from '@rideau/llm/json/body-bounds'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../core/fault.ts'
import { parseJson, parseLongJson } from './parse-json.ts'

const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const list = (unit: string, count: number): Buffer => Buffer.from(`[${Array(count).fill(unit).join()}]`)
const never = (): undefined => undefined

describe('parseJson', () => {
  test('parses a short body at once', () => {
    expect(parseJson(Buffer.from('{"a":[1]}'), REQUEST_BOUNDS)).toMatchObject({ value: { a: [1] } })
    expect(
      parseJson(list('"a text of forty characters, or about that"', 4_000), REQUEST_BOUNDS),
    ).toBeDefined()
  })

  test.each([
    ['over 256 KiB', Buffer.from(`"${'x'.repeat(256 * 1024)}"`)],
    ['of 4,096 objects', list('{}', 4_096)],
    ['of 70,000 numbers', list('1', 70_000)],
  ])('a body %s is left to slices', async (_, bytes) => {
    await nextTick()
    expect(parseJson(bytes, REQUEST_BOUNDS)).toBeUndefined()
    const { value } = await parseLongJson(bytes, REQUEST_BOUNDS, never)
    expect(JSON.stringify(value) === bytes.toString()).toBe(true)
  })

  test('parses bodies at once until the time of the tick is spent, and again in the next tick', async () => {
    await nextTick()
    const body = list('{"k":"v"}', 1_000)
    let parsed = 0
    while (parseJson(body, REQUEST_BOUNDS) !== undefined) parsed++
    expect(parsed).toBeGreaterThan(0)
    expect(parseJson(Buffer.from('{}'), REQUEST_BOUNDS)).toBeDefined()
    await nextTick()
    expect(parseJson(body, REQUEST_BOUNDS)).toBeDefined()
  })
})

describe('parseLongJson', () => {
  test('rejects with the fault that stops it', async () => {
    const fault = new Fault('request_canceled', 'gone')
    let asked = 0
    const parsing = parseLongJson(list('{}', 100_000), REQUEST_BOUNDS, () =>
      ++asked > 3 ? fault : undefined,
    )
    await expect(parsing).rejects.toBe(fault)
  })

  test.each([
    ['{"a":1,"a":2}', 'request_validation_failed', 'a'],
    [`{"${'k'.repeat(20_000)}":1}`, 'request_validation_failed', undefined],
    ['[1,]', 'request_validation_failed', undefined],
    [`[${'['.repeat(64)}`, 'request_validation_failed', undefined],
    [list('{}', 300_000).toString(), 'request_too_large', undefined],
  ])('refuses what parseJson would', async (text, code, param) => {
    await expect(parseLongJson(Buffer.from(text), REQUEST_BOUNDS, never)).rejects.toMatchObject({
      code,
      param,
    })
  })
})
