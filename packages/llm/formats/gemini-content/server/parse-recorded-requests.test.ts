import { describe, expect, test } from 'vitest'
import { hasRecordings, listRecordedRequests, toSourceBody } from '../../../testing/recorded-requests.ts'
import { RequestError } from '../../shared/reading/request-error.ts'
import { parseRequest } from './parse-request.ts'

if (!hasRecordings)
  console.log('skipped: the recordings of ../shared/wire are not there (Gemini’s format, taken in)')

/** How many recorded bodies have each finding, by its path without numbers. */
const findings = new Map<string, number>()

const BY_DESIGN = {
  'native contents[*].parts[*].codeExecutionResult': 2,
  'native contents[*].parts[*].executableCode': 2,
  'native contents[*].parts[*].videoMetadata': 1,
  'native generationConfig.logprobs': 1,
  'native generationConfig.responseLogprobs': 1,
  'native generationConfig.topK': 1,
  'native labels': 1,
  'native safetySettings': 1,
  'native toolConfig.includeServerSideToolInvocations': 5,
  // Images and speech have prices of their own.
  'refused generationConfig.responseModalities': 1,
  'refused generationConfig.speechConfig': 2,
  // A filter that its provider charges for.
  'refused modelArmorConfig': 1,
  'stored cachedContent': 2,
  'stored contents[*].parts[*].fileData.fileUri': 8,
  'stored contents[*].parts[*].functionResponse.parts[*].fileData.fileUri': 3,
}

function note(path: string): void {
  const plain = path.replace(/\d+/g, '*')
  findings.set(plain, (findings.get(plain) ?? 0) + 1)
}

describe.skipIf(!hasRecordings)('every recorded request', () => {
  const taken = ['gemini', 'vertex']
    .flatMap(provider => listRecordedRequests(provider, 'generateContent'))
    .filter(({ status }) => status === 200)

  test('all recordings are found', () => {
    expect(taken.length).toBe(243)
  })

  test('has the listed findings only, or is refused for the listed fields', () => {
    for (const { body, model } of taken) {
      try {
        const context = { source: toSourceBody('gemini-content', body), pathModel: model, isEndUser: false }
        const { unknownFields, nativeOnly, storedStatePaths } = parseRequest(body, context, false).findings
        for (const path of unknownFields) note(`unknown ${path}`)
        for (const path of nativeOnly) note(`native ${path}`)
        for (const path of storedStatePaths) note(`stored ${path}`)
      } catch (thrown) {
        if (!(thrown instanceof RequestError)) throw thrown
        note(`refused ${thrown.param}`)
      }
    }
    expect(Object.fromEntries([...findings].sort())).toEqual(BY_DESIGN)
  })
})
