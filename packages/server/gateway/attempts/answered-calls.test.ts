import { deflateRawSync } from 'node:zlib'
import { packToolCallId } from '@rideau/llm/formats/shared/reasoning/reasoning-carrier'
import { expect, test } from 'vitest'
import { AnsweredCalls } from './answered-calls.ts'

function call(text: string, id = 'c'): { index: number; id: string; function: { arguments: string } } {
  return { index: 0, id, function: { arguments: text } }
}

test('a long text in the arguments of a call is accepted', () => {
  const content = 'x'.repeat(2_000_000)
  expect(() => new AnsweredCalls().add([call(JSON.stringify({ content }))])).not.toThrow()
})

test('arguments with many objects are refused, in one call or in the pieces of several', () => {
  expect(() => new AnsweredCalls().add([call(`[${'{},'.repeat(70_000)}{}]`)])).toThrow('too many values')
  const calls = new AnsweredCalls()
  expect(() => {
    // Each piece ends a string that the piece before it began.
    for (let at = 0; at < 100; at++) calls.add([call(`",${'{},'.repeat(1_000)}"`)])
  }).toThrow('too many values')
})

test('pieces of calls are refused by their number and by their length', () => {
  const pieces = new AnsweredCalls()
  const piece = [{ function: { arguments: 'x' } }]
  expect(() => {
    for (let at = 0; at < 200_000; at++) pieces.add(piece)
  }).toThrow('too long')
  const long = new AnsweredCalls()
  const text = 'x'.repeat(1024 * 1024)
  expect(() => {
    for (let at = 0; at < 33; at++) long.add([call('{}', text)])
  }).toThrow('too long')
})

test('arguments of more than 2 Mi characters are refused, in one call or in several', () => {
  const text = JSON.stringify('x'.repeat(1024 * 1024))
  expect(() => new AnsweredCalls().add([call(JSON.stringify('x'.repeat(2_100_000)))])).toThrow('too long')
  const calls = new AnsweredCalls()
  calls.add([call(text)])
  expect(() => calls.add([call(text)])).toThrow('too long')
})

test('escapes of half surrogate pairs count as values', () => {
  const add = (escapes: number): void => new AnsweredCalls().add([call(`"${'\\ud800'.repeat(escapes)}"`)])
  expect(() => add(60_000)).not.toThrow()
  expect(() => add(70_000)).toThrow('too many values')
})

test('ids that unpack to much reasoning are refused', () => {
  const id = packToolCallId('c', [
    { type: 'reasoning.text', format: 'unknown', text: 'a'.repeat(400_000), index: 0 },
  ])
  const calls = new AnsweredCalls()
  expect(() => calls.add([call('{}', id)])).not.toThrow()
  expect(() => calls.add(Array.from({ length: 50 }, () => call('{}', id)))).toThrow('too many values')
})

test('an answer has at most 512 calls, and any number of their pieces', () => {
  const calls = new AnsweredCalls()
  for (let at = 0; at < 512; at++) calls.add([call('{}', `c${at}`), { function: { arguments: '' } }])
  expect(() => calls.add([call('{}')])).toThrow('more than 512 tool calls')
})

test('ids that cannot be unpacked count as what they cost', () => {
  // It unpacks to more than eight times its length.
  const bytes = Buffer.concat([deflateRawSync('x'.repeat(10_000_000)), Buffer.alloc(60_000)])
  const packed = `c__rd1__${bytes.toString('base64url')}`
  const calls = new AnsweredCalls()
  expect(() => calls.add(Array.from({ length: 15 }, () => call('{}', packed)))).not.toThrow()
  expect(() => calls.add(Array.from({ length: 10 }, () => call('{}', packed)))).toThrow('too many values')
})
