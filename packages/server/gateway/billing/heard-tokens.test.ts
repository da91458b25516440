import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import { expect, test } from 'vitest'
import { hearAudio } from './heard-tokens.ts'

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

function countHeard(...parts: ContentPart[]): number {
  const messages = [{ role: 'user' as const, content: parts }]
  return hearAudio({ messages } as unknown as ChatRequest).tokens
}

test.each<[string, ContentPart]>([
  ['base64', heard(HOUR)],
  ['a data URL', heard(`data:audio/flac;base64,${HOUR}`)],
  ['a file with tags', heard(TAGGED)],
  ['a file', { type: 'file', file: { file_data: `data:audio/flac;base64,${HOUR}` } }],
  ['an image', { type: 'image_url', image_url: { url: `data:audio/flac;base64,${HOUR}` } }],
])('an hour of silence in %s counts by its length', (_, part) => {
  expect(countHeard(part)).toBe(3_600 * 32)
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
