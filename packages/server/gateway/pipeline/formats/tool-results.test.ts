import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FormatHarness, openFormatHarness } from '../../../testing/harness/format-harness.ts'
import { FORMAT_REQUESTS } from '../../../testing/harness/format-requests.ts'
import { FORMAT_TARGETS } from '../../../testing/harness/format-targets.ts'
import {
  RESULT_FORMATS,
  RESULTS,
  type ResultFormat,
  SENT_RESULTS,
  type SentResult,
} from '../../../testing/harness/tool-results.ts'

/** Three parallel results, one of them an error, one with a document, from callers of each format to providers of each. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const IDS = ['call_1', 'call_2', 'call_3']

function send(surface: string, format: ResultFormat, target: string, hasDocument: boolean) {
  const tools = FORMAT_REQUESTS[surface]?.tools
  return harness.send(surface, target, { ...format.toFields({ hasDocument }), ...tools })
}

describe.each(Object.entries(RESULT_FORMATS))('a caller of %s', (surface, format: ResultFormat) => {
  test.each(Object.keys(FORMAT_TARGETS))(
    'sends each result for its call to %s, and says which is an error',
    async target => {
      const { status, code, param, sent, dropped } = await send(surface, format, target, false)
      expect([status, code, param, dropped]).toEqual([200, '', expect.any(String), null])
      const results = SENT_RESULTS[target]?.(sent[0]) as readonly SentResult[]
      expect(results.map(({ id }) => id)).toEqual(IDS)
      for (const [at, text] of RESULTS.entries()) expect(results[at]?.text).toContain(text)
      const wrong = format.saysErrors ? [false, true, false] : [false, false, false]
      expect(results.map(({ isError }) => isError)).toEqual(wrong)
    },
  )
})

const WITH_DOCUMENTS = Object.entries(RESULT_FORMATS).filter(([, { takesDocuments }]) => takesDocuments)

describe.each(WITH_DOCUMENTS)('a caller of %s', (surface, format: ResultFormat) => {
  test.each(Object.keys(FORMAT_TARGETS))(
    'sends the document of a result to %s, or is refused by its name',
    async target => {
      const { status, param, sent, dropped } = await send(surface, format, target, true)
      const isSent = status === 200 && JSON.stringify(sent[0]).includes('JVBERi0=')
      const isRefused = status === 400 && sent.length === 0 && /file|messages|input|contents/.test(param)
      expect({ isSent, isRefused, dropped, status, param }).toMatchObject({
        isSent: !isRefused,
        dropped: null,
      })
      expect([isSent, isRefused]).toContain(true)
    },
  )
})
