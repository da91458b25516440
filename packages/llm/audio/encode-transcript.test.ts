import { expect, test } from 'vitest'
import type { SentBody } from '../json/unwritten-json.ts'
import type { TranscriptionReply } from './audio-format.ts'
import { encodeTranscript } from './encode-transcript.ts'

const MAX_PIECE_BYTES = 3 * 64 * 1024

/** A transcript of these segments, one a second. */
function toReply(...texts: readonly string[]): TranscriptionReply {
  const segments = texts.map((text, at) => ({ start: at, end: at + 1, text }))
  const text = texts.join(' ')
  return { text, body: { text, segments }, usage: {} }
}

function listPieces(body: SentBody): Buffer[] {
  return 'pieces' in body ? [...body.pieces()] : [body]
}

/** The text without the numbers and times of cues. */
const LINES = {
  text: (written: string) => written.trim(),
  srt: (written: string) => written.replaceAll(/^\d+\n[\d:,]{12} --> [\d:,]{12}\n/gm, ''),
  vtt: (written: string) =>
    written.replace('WEBVTT\n\n', '').replaceAll(/^[\d:.]{12} --> [\d:.]{12}\n/gm, ''),
}

test.each(['text', 'srt', 'vtt'] as const)(
  '%s of long and of many segments is written whole, in pieces',
  format => {
    const many = Array.from({ length: 40_000 }, (_, at) => `segment ${at}`)
    for (const texts of [['é😀'.repeat(500_000), 'x'.repeat(300_000)], many]) {
      const pieces = listPieces(encodeTranscript({ format, isStream: false }, toReply(...texts)).bytes)
      expect(pieces.length).toBeGreaterThan(4)
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(MAX_PIECE_BYTES)
      const written = LINES[format](Buffer.concat(pieces).toString())
      expect(written === (format === 'text' ? texts.join(' ') : `${texts.join('\n\n')}\n\n`)).toBe(true)
    }
  },
)

test('a short transcript is written at once', () => {
  const { bytes } = encodeTranscript({ format: 'srt', isStream: false }, toReply('Hello', 'there'))
  expect(String(bytes)).toBe(
    '1\n00:00:00,000 --> 00:00:01,000\nHello\n\n2\n00:00:01,000 --> 00:00:02,000\nthere\n\n',
  )
})
