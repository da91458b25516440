import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { CARRIER_MARK, inflateToolCallId } from '../reasoning/reasoning-carrier.ts'
import { findLongTexts, InnerTexts } from './inner-texts.ts'

const pack = (bytes: Buffer): string => `c${CARRIER_MARK}${bytes.toString('base64url')}`

test('what ids carry together is bounded', () => {
  const id = pack(deflateRawSync('x'.repeat(400_000), { level: 0 }))
  const inner = new InnerTexts()
  for (let at = 0; at < 20; at++) inner.addCarried(id)
  expect(inner.findFault('messages')).toBeUndefined()
  inner.addCarried(id)
  expect(inner.findFault('messages')).toMatchObject({ code: 'request_too_large', param: 'messages' })
})

test('an id whose unpacking fails at its bound counts as all of it', () => {
  const packed = deflateRawSync('x'.repeat(10_000_000))
  // Behind the end of the deflated text anything may stand: the id is longer, but unpacks to more than eight times its length.
  const id = pack(Buffer.concat([packed, Buffer.alloc(60_000)]))
  expect(inflateToolCallId(id)).toBeUndefined()
  const inner = new InnerTexts()
  for (let at = 0; at < 15; at++) inner.addCarried(id)
  expect(inner.findFault('messages')).toBeUndefined()
  for (let at = 0; at < 5; at++) inner.addCarried(id)
  expect(inner.findFault('messages')).toMatchObject({ code: 'request_too_large' })
})

test('an id without the mark carries nothing', () => {
  const inner = new InnerTexts()
  for (let at = 0; at < 100; at++) inner.addCarried('x'.repeat(1_000_000))
  expect(inner.findFault('messages')).toBeUndefined()
})

test('a request may have 4,096 ids that carry something, however little', () => {
  const inner = new InnerTexts()
  for (let at = 0; at < 4_096; at++) inner.addCarried(pack(deflateRawSync('[]')))
  expect(inner.findFault('messages')).toBeUndefined()
  inner.addCarried(pack(Buffer.from('x')))
  expect(inner.findFault('messages')).toMatchObject({ code: 'request_too_large' })
})

test('a request has at most 4 Mi characters of arguments and 16 Mi of results that are JSON', () => {
  const Mi = 1024 * 1024
  expect(findLongTexts({ ofArguments: 4 * Mi, ofResults: 16 * Mi }, 'messages')).toBeUndefined()
  for (const lengths of [
    { ofArguments: 4 * Mi + 1, ofResults: 0 },
    { ofArguments: 0, ofResults: 16 * Mi + 1 },
  ]) {
    expect(findLongTexts(lengths, 'messages')).toMatchObject({ code: 'request_too_large', param: 'messages' })
  }
})
