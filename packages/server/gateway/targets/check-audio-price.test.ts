import type { Message } from '@rideau/llm/request/message'
import { measureLongestStep, measureMs } from '@rideau/llm/testing/measure-ms'
import { expect, test } from 'vitest'
import { findAudio, searchAudio } from './check-audio-price.ts'

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
  const usedMs = measureMs(() => {
    for (let target = 0; target < 1_000; target++) findAudio({ ...request })
  })
  expect(usedMs).toBeLessThan(20)
})

test.each([
  ['image_url', 'the address of an image'],
  ['file', 'a file'],
])('texts of blanks in a part of the type %s are searched in short steps', type => {
  const { messages } = ask({ type, a: Array(32_000).fill(`${' '.repeat(990)}x`) })
  // The code of the first search is not compiled yet.
  measureLongestStep(searchAudio(messages))
  expect(measureLongestStep(searchAudio([...messages]))).toBeLessThan(20)
})
