import { parseRequest } from '@rideau/llm/formats/openai-chat/server/parse-request'
import type { ParsedChat } from '@rideau/llm/formats/shared/requests/parsed-chat'
import type { JsonObject } from '@rideau/llm/json/json-value'
import { measureLongestStep, measureMs } from '@rideau/llm/testing/measure-ms'
import { expect, test } from 'vitest'
import { findUnmeasured, searchUnmeasured } from './find-unmeasured.ts'

const MiB = 1_048_576

/** The texts of a message of the system are searched as a whole. */
function parse(content: unknown, role = 'system', more: object = {}): ParsedChat {
  const body = {
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      { role, content, ...more },
    ],
  }
  // As it comes from a parser: one piece of memory a text.
  const value = JSON.parse(JSON.stringify(body)) as JsonObject
  const source = { format: 'openai-chat' as const, bytes: Buffer.alloc(0), value, fields: new Map() }
  return parseRequest(value, { source, pathModel: '', isEndUser: false })
}

const many = (piece: string, chars: number): string => piece.repeat(chars / piece.length)
const texts = (count: number, text: string): object[] =>
  Array.from({ length: count }, () => ({ type: 'text', text }))

/** 60,000 names that are slow to look up. */
const named = (): object =>
  Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`${'ﷺ'.repeat(58)}${at}`, 1]))

const image = (count: number, text: string): object[] => [
  { type: 'image_url', image_url: { url: 'x', a: Array(count).fill(`${text}x`) } },
]

test.each<[string, () => unknown]>([
  ['one text', () => many('The quick brown fox jumps. ', 31 * MiB)],
  ['one text of two-byte characters', () => `人${many('The quick brown fox jumps. ', 31 * MiB)}`],
  ['the beginning of a name again and again', () => many('fileid:/', 31 * MiB)],
  ['beginnings with characters that are not seen', () => many('f\u200b', 16 * MiB)],
  ['20,000 texts', () => texts(20_000, many('fileid:/', 1_500))],
  [
    '60,000 texts in a part that is not known',
    () => [{ type: 'other', a: Array.from({ length: 60_000 }, () => many('fox ', 500)) }],
  ],
  [
    'audio that begins like an address',
    () => [{ type: 'input_audio', input_audio: { data: many('QUJDabcd', 24 * MiB), format: 'mp3' } }],
  ],
  ['blanks in the place of a file', () => [{ type: 'file', file: { file_data: many(' ', 31 * MiB) } }]],
  ['texts of blanks in an image', () => image(500, many(' ', 65_000))],
  ['texts of characters that are not seen in an image', () => image(160, many('\u200b', 65_000))],
  ['short texts of blanks in an image', () => image(32_000, many(' ', 1_000))],
  [
    'short texts of blanks in a file',
    () => [{ type: 'file', file: { a: Array(32_000).fill(many(' ', 990)) } }],
  ],
  ['names in a part that is not known', () => [{ type: 'other', a: named() }]],
  ['names of a part', () => [{ type: 'other', ...named() }]],
  [
    'names beside the address of an image',
    () => [{ type: 'image_url', image_url: { url: 'x', ...named() } }],
  ],
])('searches %s in steps of some milliseconds, and once', (_, make) => {
  const content = make()
  // The code of the first search is not compiled yet.
  measureLongestStep(searchUnmeasured(parse(content)))
  const parsed = parse(content)
  expect(measureLongestStep(searchUnmeasured(parsed))).toBeLessThan(40)
  const usedMs = measureMs(() => {
    findUnmeasured(parsed)
  })
  expect(usedMs).toBeLessThan(10)
})

test.each(['user', 'system'])('reads many texts of a message by the role %s as one in short steps', role => {
  const text = many('The quick brown fox jumps. ', MiB)
  // A text that is repeated takes the memory of one, so that this is more than a body has.
  const content = Array(120).fill({ type: 'text', text })
  const { request, ...rest } = parse('x')
  const parsed = { ...rest, request: { ...request, messages: [{ role: role as 'user', content }] } }
  expect(measureLongestStep(searchUnmeasured(parsed))).toBeLessThan(20)
})

test('finds a file in one of several texts, and in a text of megabytes', () => {
  expect(findUnmeasured(parse([...texts(2, 'x'), ...texts(1, 'fileid://file-1')]))).toBe(
    'messages[1].content[2]',
  )
  expect(findUnmeasured(parse(`${many('x', MiB)}fileid://file-1`))).toBe('messages[1].content')
})

test('takes an address behind more blanks than are read for one, and a video too', () => {
  const file = (file_data: string): object[] => [{ type: 'file', file: { file_data } }]
  expect(findUnmeasured(parse(file(`${many(' ', 20_000)}https://a.example/b`)))).toBe(
    'messages[1].content[0]',
  )
  expect(findUnmeasured(parse(file(`${many(' ', 20)}data:video/mp4;base64,AAAA`)))).toBe(
    'messages[1].content[0]',
  )
  expect(findUnmeasured(parse(file(`data:${many(' ', 70_000)}video/mp4;base64,AAAA`)))).toBe(
    'messages[1].content[0]',
  )
  expect(findUnmeasured(parse(file('data:text/csv;base64,YSxi')))).toBeUndefined()
})

test('takes what a user mentions for a text, and what a message begins with for a file', () => {
  expect(findUnmeasured(parse('What does fileid://file-1 mean?', 'user'))).toBeUndefined()
  expect(findUnmeasured(parse(texts(1, 'See fileid://file-1.'), 'user'))).toBeUndefined()
  expect(findUnmeasured(parse(' fileid://file-1', 'user'))).toBe('messages[1].content')
  expect(findUnmeasured(parse('Answer by fileid://file-1.'))).toBe('messages[1].content')
})

test.each([
  [{ id: 'audio_1' }, 'messages[1].audio'],
  [null, undefined],
])('finds the audio of an earlier answer, which the provider keeps: %j', (audio, path) => {
  expect(findUnmeasured(parse('hi', 'assistant', { audio }))).toBe(path)
})

test('a name that is divided over two texts of a message of the system stands for files', () => {
  const parts = [...texts(1, 'Read file'), ...texts(1, 'id://file-fe-a')]
  expect(findUnmeasured(parse(parts))).toBe('messages[1].content')
  expect(findUnmeasured(parse(parts, 'user'))).toBeUndefined()
  const tiny = [...'Read fileid://file-fe-a'].flatMap(char => texts(1, char))
  expect(findUnmeasured(parse(tiny))).toBe('messages[1].content')
  expect(findUnmeasured(parse([...texts(1, many('x', 65_530)), ...parts]))).toBe('messages[1].content')
  expect(findUnmeasured(parse([...texts(3, ' '), ...texts(1, ' file'), ...parts.slice(1)], 'user'))).toBe(
    'messages[1].content',
  )
  // What follows the first 65,536 characters begins no message.
  expect(findUnmeasured(parse([...texts(1, many('x', 65_536)), ...parts.slice(1)], 'user'))).toBeUndefined()
})

test('texts of parts of other kinds are read with those around them, as in the check on what leaves', () => {
  const parts = [{ type: 'novel', text: 'Read file' }, ...texts(1, 'id://file-fe-a')]
  expect(findUnmeasured(parse(parts))).toBe('messages[1].content')
  expect(findUnmeasured(parse([{ type: 'novel', text: 'Read fileid://file-fe-a' }]))).toBe(
    'messages[1].content[0]',
  )
})

test('a file in the place of an image is found behind any number of characters that are not seen, and in no address', () => {
  const image = (url: string): object[] => [{ type: 'image_url', image_url: { url } }]
  for (const count of [0, 9_980, 10_000, 70_000])
    expect(findUnmeasured(parse(image(`${'\u200b'.repeat(count)}fileid://file-1`), 'user'))).toBeDefined()
  expect(findUnmeasured(parse(image('https://a.example/?u=fileid://x'), 'user'))).toBeUndefined()
})
