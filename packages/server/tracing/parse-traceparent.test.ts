import { describe, expect, test } from 'vitest'
import { boundTracestate, parseTraceparent } from './parse-traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  [`00-${TRACE}-${SPAN}-03`, true],
  [`cc-${TRACE}-${SPAN}-01-of a later version`, true],
])('parses %s', (header, isSampled) => {
  expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled })
})

describe('a traceparent that is not valid is none', () => {
  test.each([
    undefined,
    '',
    'x',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(201)}`,
  ])('%j', header => {
    expect(parseTraceparent(header)).toBeUndefined()
  })
})

test('a tracestate of more than 512 characters is none', () => {
  expect(boundTracestate(`a=${'x'.repeat(510)}`)).toHaveLength(512)
  expect(boundTracestate(`a=${'x'.repeat(511)}`)).toBeUndefined()
  expect(boundTracestate(undefined)).toBeUndefined()
})
