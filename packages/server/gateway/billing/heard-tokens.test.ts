import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import { measureLongestStep, measureMs } from '@rideau/llm/testing/measure-ms'
import { expect, test } from 'vitest'
import { hearAudio, measureAudio } from './heard-tokens.ts'

/** The start of a FLAC file of so many seconds. */
function flac(seconds: number): Buffer {
  const bytes = Buffer.alloc(42)
  bytes.write('fLaC', 0, 'latin1')
  bytes.writeUIntBE(8_000 * 16, 18, 3)
  bytes.writeUInt32BE(8_000 * seconds, 22)
  return bytes
}

/** A WAV file whose samples are of this format, in the standard's numbers. */
function wav(format: number): string {
  const bytes = Buffer.alloc(10_000)
  bytes.write('RIFF', 0, 'latin1')
  bytes.write('WAVEfmt ', 8, 'latin1')
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(format, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(16_000, 24)
  bytes.writeUInt16LE(16, 34)
  return bytes.toString('base64')
}

const HOUR = flac(3_600).toString('base64')
const TAGGED = Buffer.concat([Buffer.from('ID3\u0004\0\0\0\0\0\0', 'latin1'), flac(3_600)]).toString('base64')

const heard = (data: string): ContentPart => ({ type: 'input_audio', input_audio: { data, format: 'flac' } })

const hearing = (...parts: ContentPart[]): ChatRequest =>
  ({ messages: [{ role: 'user', content: parts }] }) as unknown as ChatRequest

const countHeard = (...parts: ContentPart[]): number => hearAudio(hearing(...parts)).tokens

test.each<[string, ContentPart]>([
  ['base64', heard(HOUR)],
  ['a data URL', heard(`data:audio/flac;base64,${HOUR}`)],
  ['base64 behind blanks', heard(`${' '.repeat(70)}${HOUR}`)],
  ['a data URL behind blanks', heard(` DATA:audio/flac;base64, ${HOUR}`)],
  ['a file with tags', heard(TAGGED)],
  ['a file', { type: 'file', file: { file_data: `data:audio/flac;base64,${HOUR}` } }],
  ['an image', { type: 'image_url', image_url: { url: `data:audio/flac;base64,${HOUR}` } }],
])('an hour of silence in %s counts by its length', (_, part) => {
  expect(countHeard(part)).toBe(3_600 * 32)
})

test('what is behind a thousand blanks may be any audio', () => {
  expect(countHeard(heard(`${' '.repeat(1_000)}AAAA`))).toBe(1_048_576)
})

test.each<[string, ContentPart]>([
  ['a text', { type: 'text', text: HOUR }],
  ['an address', { type: 'image_url', image_url: { url: 'https://a.example/b.png' } }],
  ['a PDF', { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }],
  ['PCM in WAV', heard(wav(1))],
  ['speech in MP3', heard('//uQxAAAAAAAAAAAAAAAAAAAAAAA')],
  ['an id', { type: 'file', file: { file_id: 'f' } }],
  ['nothing', { type: 'input_audio', input_audio: {} }],
])('%s counts by its characters alone', (_, part) => {
  expect(countHeard(part)).toBe(0)
})

test('FLAC in WAV counts by the longest that it can be', () => {
  expect(countHeard(heard(wav(0xf1ac)))).toBe(Math.ceil(10_000 / 750) * 32)
})

test('all audio beyond what is read fills one context window together', () => {
  const file = heard(Buffer.concat([flac(1), Buffer.alloc(384 * 1_024)]).toString('base64'))
  const read = countHeard(...Array<ContentPart>(15).fill(file))
  expect(countHeard(...Array<ContentPart>(30).fill(file)) - read).toBe(1_048_576)
})

test.each<[string, string[]]>([
  ['one Ogg file', ['T2dnU/+4AQH/'.repeat(699_050)]],
  ['ten Ogg files of what looks like frames', Array<string>(10).fill(`T2dnU${'//gQAf/4'.repeat(100_000)}`)],
  ['an Ogg file with characters that are skipped', [`T2dnU${'!//gQAf'.repeat(1_190_000)}`]],
  ['a WAV file of PCM', [wav(1).replace(/=*$/, '').slice(0, 13_000) + 'AAAA'.repeat(2_000_000)]],
])('%s is measured in steps of some milliseconds, and once', (_, files) => {
  const parts = files.map(heard)
  // The code of the first walk is not compiled yet.
  measureLongestStep(measureAudio(hearing(...parts)))
  const request = hearing(...parts)
  expect(measureLongestStep(measureAudio(request))).toBeLessThan(40)
  const expected = hearAudio(hearing(...parts)).tokens
  const usedMs = measureMs(() => {
    for (let targets = 0; targets < 100; targets++) expect(hearAudio(request).tokens).toBe(expected)
  })
  expect(usedMs).toBeLessThan(30)
})

test('a long file is decoded in steps, as it is at once', () => {
  // Its format is not found before all of it is decoded.
  const start = Buffer.from(wav(1), 'base64')
  const junk = Buffer.alloc(8 + 100_000)
  junk.write('JUNK', 0, 'latin1')
  junk.writeUInt32LE(100_000, 4)
  const file = Buffer.concat([start.subarray(0, 12), junk, start.subarray(12), Buffer.alloc(3_000_000)])
  const data = file.toString('base64').replace('AAAA', 'A!AA\nA')
  const measuring = measureAudio(hearing(heard(data)))
  let steps = 0
  while (measuring.next().done !== true) steps++
  expect(steps).toBeGreaterThan(60)
  expect(countHeard(heard(data))).toBe(0)
})
