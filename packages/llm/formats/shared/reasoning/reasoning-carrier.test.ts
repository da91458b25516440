import { deflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import {
  listHandedDetails,
  listReasoningDetails,
  packToolCallId,
  plainToolCallId,
  unpackToolCallId,
} from './reasoning-carrier.ts'

const SIGNED: ReasoningDetail = {
  type: 'reasoning.text',
  format: 'anthropic-claude-v1',
  text: 'The user asks for é and "quotes".',
  signature: 'EqQB/+=',
}
const SEALED: ReasoningDetail = {
  type: 'reasoning.encrypted',
  format: 'google-gemini-v1',
  data: 'AAEC',
  id: 'call_2',
}

describe('a tool call’s id carries reasoning', () => {
  test('what is packed comes back, in an id of letters, digits, _ and - only', () => {
    const packed = packToolCallId('toolu_01', [SIGNED, SEALED])
    expect(packed).toMatch(/^toolu_01[A-Za-z0-9_-]+$/)
    expect(unpackToolCallId(packed)).toEqual({ id: 'toolu_01', details: [SIGNED, SEALED] })
    expect(plainToolCallId(packed)).toBe('toolu_01')
  })

  test('without reasoning the id stays as it is', () => {
    expect(packToolCallId('call_1', [])).toBe('call_1')
    expect(unpackToolCallId('call_1')).toEqual({ id: 'call_1', details: [] })
    expect(plainToolCallId('call_1')).toBe('call_1')
  })

  test('reasoning that repeats itself comes back whole, though it packs as a bomb would', () => {
    const repeated = { ...SIGNED, text: 'Wait. '.repeat(50_000) }
    const packed = packToolCallId('call_1', [repeated])
    expect(unpackToolCallId(packed)).toEqual({ id: 'call_1', details: [repeated] })
  })

  test('an id of a kilobyte that unpacks to half a megabyte carries nothing, also where that is reasoning', () => {
    const text = JSON.stringify([{ ...SIGNED, text: ' '.repeat(500_000) }])
    const forged = `call_1__rd1__${deflateRawSync(text).toString('base64url')}`
    expect(forged.length).toBeLessThan(1_024)
    expect(unpackToolCallId(forged)).toEqual({ id: 'call_1', details: [] })
  })

  test('a forged or torn id carries nothing, and a bomb is not unpacked', () => {
    const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024, 0x20)).toString('base64url')
    const notDetails = deflateRawSync(
      Buffer.from('[1,{"type":2},{"type":"a","format":"b","data":{}}]'),
    ).toString('base64url')
    for (const tail of ['', '!!!', 'AAAA', bomb, notDetails]) {
      expect(unpackToolCallId(`call_1__rd1__${tail}`)).toEqual({ id: 'call_1', details: [] })
    }
  })
})

describe('the reasoning of a message', () => {
  const calls = [{ id: packToolCallId('call_1', [SIGNED, SEALED]) }]

  test('comes from the message where the client kept it, else from the ids', () => {
    const kept = { ...SIGNED, text: 'kept' }
    expect(
      listReasoningDetails({ reasoning_details: [kept], tool_calls: calls }, 'anthropic-claude-v1'),
    ).toEqual([kept])
    expect(listReasoningDetails({ tool_calls: calls }, 'anthropic-claude-v1')).toEqual([SIGNED])
    expect(listReasoningDetails({ content: 'text' }, 'anthropic-claude-v1')).toEqual([])
  })

  test('is whole where the client kept the last pieces of a stream alone', () => {
    const last = { ...SIGNED, text: 'then', signature: 'last' }
    const message = { reasoning_details: [{ ...last, via: 'direct' }], tool_calls: calls }
    expect(listReasoningDetails(message, 'anthropic-claude-v1')).toEqual([SIGNED, { ...last, via: 'direct' }])
    const handed = [{ id: packToolCallId('call_1', [{ ...SIGNED, via: 'broker' }]) }]
    expect(
      listHandedDetails({ reasoning_details: [{ ...last, via: 'broker' }], tool_calls: handed }, 'broker'),
    ).toEqual([SIGNED, last])
  })

  test('is left out if it is of another family', () => {
    expect(listReasoningDetails({ reasoning_details: [SIGNED], tool_calls: [] }, 'google-gemini-v1')).toEqual(
      [],
    )
    expect(listReasoningDetails({ tool_calls: calls }, 'google-gemini-v1')).toEqual([SEALED])
  })
})
