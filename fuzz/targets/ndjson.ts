import { openNdjsonParser } from '@rideau/llm/frames/ndjson'
import { cut, Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

export const seeds = ['\x02{"a":1}\n{"b":2}\r\n\n \n{"c":3}', '\x01\xc3\xa9\n\xff\n', '\x0fx\n'].map(text =>
  Buffer.from(text, 'latin1'),
)

const MAX_EVENT_BYTES = 4096

function read(
  chunks: readonly Buffer[],
  maxEventBytes = MAX_EVENT_BYTES,
): { lines: string[]; isTooLong: boolean } {
  const lines: string[] = []
  const parser = openNdjsonParser(({ data }) => lines.push(data), { maxEventBytes })
  const { error } = attempt(() => {
    for (const chunk of chunks) parser.push(chunk)
    parser.end()
  })
  if (error !== undefined) assert(error.name === 'LineTooLongError', `no other error: ${error.stack}`)
  return { lines, isTooLong: error !== undefined }
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const choice = input.byte()
  const isRepeated = choice % 16 === 15
  const bytes = isRepeated ? repeat(input.rest(), 2000) : input.rest()
  if (isRepeated) {
    assertLinear(bytes, 60, 4000, () => read([bytes]))
    return
  }
  const whole = read([bytes])
  const chunks = cut(bytes, choice)
  const pieces = read(chunks)
  assertEqual(pieces, whole, 'the same lines however the bytes are cut')
  const lines = bytes.toString('latin1').split('\n')
  const isLong = lines.some(
    (line, index) => line.length + (index === lines.length - 1 ? 0 : 1) > MAX_EVENT_BYTES,
  )
  assertEqual(whole.isTooLong, isLong, 'a line is too long above the limit only')
  const expected = lines.map(line => Buffer.from(line, 'latin1').toString('utf8').trim())
  if (!isLong)
    assertEqual(
      whole.lines,
      expected.filter(line => line !== ''),
      'each line that is not blank',
    )
  const bounded = read(chunks, 16)
  assertEqual(bounded.lines, whole.lines.slice(0, bounded.lines.length), 'a limit changes no line')
}
