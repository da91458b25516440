import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toObject, toObjects } from '../../../json/json-value.ts'
import type { DeltaEvent } from '../../../stream/stream-event.ts'
import { ContentEncoder } from './encode-stream.ts'

const ENVELOPE = { id: 'r1', created: 0, model: 'p/m' }
const USAGE = { uncachedInput: 5, cacheRead: 0, cacheWrite: 0, output: 3, reasoning: 0 }

type Delta = Omit<DeltaEvent, 'type' | 'index'>

/** The parts of each chunk. */
function encode(deltas: readonly Delta[], thoughts = true): JsonObject[][] {
  const encoder = new ContentEncoder(ENVELOPE, { thoughts })
  const chunks = deltas.flatMap(delta => encoder.encode({ type: 'delta', index: 0, ...delta }))
  return [...chunks, encoder.finish('stop', USAGE)].map(listParts)
}

function listParts({ candidates }: JsonObject): JsonObject[] {
  const [candidate] = toObjects(candidates as Json)
  return toObjects(toObject(candidate?.content)?.parts)
}

/** The helpers for chats in google.golang.org/genai and @google/generative-ai keep no answer of which a part is not this. */
function isKept({ text, functionCall }: JsonObject): boolean {
  return text === undefined ? functionCall !== undefined : text !== ''
}

test('ends with the last character of the text in place of an empty part, so that chats keep the answer', () => {
  expect(encode([{ content: 'The ' }, { content: 'sky' }, { content: '.' }])).toEqual([
    [{ text: 'The' }],
    [{ text: ' sk' }],
    [{ text: 'y' }],
    [{ text: '.' }],
  ])
})

test('never cuts a character of two code units', () => {
  expect(
    encode([{ content: 'a😀' }, { content: '😀' }, { content: '\ud83d' }, { content: '\ude00b' }]),
  ).toEqual([[{ text: 'a' }], [{ text: '😀' }], [{ text: '😀' }], [{ text: '😀' }], [{ text: 'b' }]])
})

test('keeps a signature on its text, and calls behind it', () => {
  const signature = { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'S' } as const
  const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } } as const
  expect(
    encode([
      { content: 'one' },
      { reasoningDetails: [signature] },
      { content: 'two' },
      { toolCalls: [call] },
    ]),
  ).toEqual([
    [{ text: 'on' }],
    [{ text: 'e', thoughtSignature: 'S' }, { text: 'tw' }],
    [{ text: 'o' }, { functionCall: { id: 'c', name: 'f', args: {} } }],
  ])
})

test('gives what waits to a stream that has no last chunk', () => {
  const encoder = new ContentEncoder(ENVELOPE, { thoughts: false })
  encoder.encode({ type: 'delta', index: 0, content: 'cut' })
  expect([encoder.flush().map(listParts), encoder.flush()]).toEqual([[[{ text: 't' }]], []])
})

/** Joins texts of one kind that follow each other. */
function toRuns(parts: readonly JsonObject[]): JsonObject[] {
  const runs: { text: string; thought: boolean }[] = []
  for (const { text, thought = false } of parts) {
    const last = runs.at(-1)
    if (last !== undefined && last.thought === thought) last.text += String(text)
    else if (text !== '') runs.push({ text: String(text), thought: thought === true })
  }
  return runs
}

test('has all texts and thoughts in their order, and no empty part beside one of them', () => {
  const piece = fc.record({
    text: fc.string({ unit: fc.constantFrom('a', 'é', '😀') }),
    thought: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(piece), fc.boolean(), (pieces, thoughts) => {
      const deltas = pieces.map(({ text, thought }) => (thought ? { reasoning: text } : { content: text }))
      const parts = encode(deltas, thoughts).flat()
      const shown = toRuns(pieces.filter(({ thought }) => thoughts || !thought))
      expect(toRuns(parts)).toEqual(shown)
      if (shown.length > 0) expect(parts.filter(part => !isKept(part))).toEqual([])
    }),
  )
})
