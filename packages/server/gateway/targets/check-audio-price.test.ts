import type { Message } from '@rideau/llm/request/message'
import { readThreadMs } from '@rideau/llm/testing/read-thread-ms'
import { expect, test } from 'vitest'
import { findAudio } from './check-audio-price.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const ask = (...parts: object[]) => ({ messages: [{ role: 'user', content: parts }] as unknown as Message[] })

test.each([
  ['data:image/png;base64,AAAA', false],
  ['https://example.com/a.png', false],
  [' data: AUDIO/mp3;base64,AAAA', true],
  ['data:video/mp4;base64,AAAA', true],
  [`${' '.repeat(999)}x`, false],
  [`${' '.repeat(1_000)}x`, true],
  [`data:${' '.repeat(1_000)}image/png`, true],
])('whether the address %j of an image is audio', (url, isAudio) => {
  expect(findAudio(ask(image(url)))).toBe(isAudio ? 'messages[0].content[0]' : undefined)
})

test('content is searched once for all targets', () => {
  const request = ask(...Array.from({ length: 20_000 }, (_, at) => image(`https://example.com/${at}.png`)))
  expect(findAudio(request)).toBeUndefined()
  const startedAt = readThreadMs()
  for (let target = 0; target < 1_000; target++) findAudio({ ...request })
  expect(readThreadMs() - startedAt).toBeLessThan(20)
})

test('few blanks are read before the address of an image', () => {
  const request = ask(...Array.from({ length: 480 }, () => image(`${' '.repeat(65_535)}x`)))
  const startedAt = readThreadMs()
  expect(findAudio(request)).toBe('messages[0].content[0]')
  expect(readThreadMs() - startedAt).toBeLessThan(20)
})
