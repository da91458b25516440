import type { ContentPart } from '@rideau/llm/request/message'
import { expect, test } from 'vitest'
import { countHeard } from './heard-tokens.ts'

/** The start of a FLAC file of so many seconds. */
function flac(seconds: number): Buffer {
  const bytes = Buffer.alloc(42)
  bytes.write('fLaC', 0, 'latin1')
  bytes.writeUIntBE(8_000 * 16, 18, 3)
  bytes.writeUInt32BE(8_000 * seconds, 22)
  return bytes
}

const HOUR = flac(3_600).toString('base64')
const TAGGED = Buffer.concat([Buffer.from('ID3\u0004\0\0\0\0\0\0', 'latin1'), flac(3_600)]).toString('base64')

const heard = (data: string): ContentPart => ({ type: 'input_audio', input_audio: { data, format: 'flac' } })

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
  ['speech in MP3', heard('//uQxAAAAAAAAAAAAAAAAAAAAAAA')],
  ['an id', { type: 'file', file: { file_id: 'f' } }],
  ['nothing', { type: 'input_audio', input_audio: {} }],
])('%s counts by its characters alone', (_, part) => {
  expect(countHeard(part)).toBe(0)
})
