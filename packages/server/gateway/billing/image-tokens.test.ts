import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import { describe, expect, test } from 'vitest'
import { countLargeImages, listImages } from './image-tokens.ts'

const image = (detail?: string): ContentPart => ({
  type: 'image_url',
  image_url: { url: 'https://a.example/b.png', ...(detail === undefined ? {} : { detail }) },
})
const PDF: ContentPart = { type: 'image_url', image_url: { url: 'data:application/pdf;base64,QUJD' } }

function count(model: string, ...content: ContentPart[]): number {
  const request: ChatRequest = {
    model: 'm',
    stream: false,
    includeUsage: false,
    messages: [
      { role: 'system', content: 'x' },
      { role: 'user', content: [{ type: 'text', text: 'x' }, ...content] },
    ],
  }
  return countLargeImages(listImages(request), { model })
}

/** A PNG of this size in the body, up to its pixels. */
function png(width: number, height: number, detail?: string): ContentPart {
  const head = Buffer.alloc(45)
  head.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 0, 'latin1')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  head.write('IDAT', 37, 'latin1')
  const url = `data:image/png;base64,${head.toString('base64')}`
  return { type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } }
}

test.each([
  ['gpt-4o', 0],
  ['claude-sonnet-4-5', 0],
  ['claude-haiku-4-5-20251001', 0],
  ['unknown', 0],
  ['gpt-4o-mini-2024-07-18', 46_569],
  ['openai/gpt-4o-mini', 46_569],
  ['gpt-5.4-nano', 2_179],
  ['gpt-5-mini', 1_042],
  ['gpt-5.5-pro', 900],
  ['claude-opus-4-7-20260416', 3_184],
  ['anthropic/claude-opus-4.8', 3_184],
  ['eu.anthropic.claude-sonnet-5-v1:0', 3_184],
])('an image at %s has up to %d tokens more than usual', (model, more) => {
  expect(count(model, image())).toBe(more)
  expect(count(model, image('high'), image('auto'))).toBe(2 * more)
})

test('the detail of an image decides too', () => {
  expect(count('gpt-4o-mini', image('low'))).toBe(1_233)
  expect(count('gpt-4o', image('low'))).toBe(0)
  expect(count('gpt-5.4', image('original'))).toBe(10_400)
  expect(count('gpt-4o-mini', image('original'))).toBe(46_569)
})

test('nothing is added without an image, and none for a file in the place of one, which is counted by its length', () => {
  expect(count('gpt-4o-mini')).toBe(0)
  expect(count('gpt-4o-mini', PDF)).toBe(0)
})

describe('an image in the body of a request to gpt-4o-mini', () => {
  test.each([
    [1, 1, 8_500],
    [512, 512, 8_500],
    [513, 512, 14_167],
    [768, 768, 25_501],
    [1_024, 1_024, 25_501],
    // 4:3, whose longer side becomes 1,024.
    [4_032, 3_024, 25_501],
    [3_024, 4_032, 25_501],
    [4_033, 3_024, 36_835],
    // OpenAI's example: 768 by 1,536.
    [2_048, 4_096, 36_835],
    [4_096, 2_047, 48_169],
    [2_048, 768, 48_169],
    [16_384, 16, 25_501],
    [4_294_967_295, 4_294_967_295, 25_501],
  ])('of %d by %d pixels has the tokens of its tiles', (width, height, tokens) => {
    expect(count('gpt-4o-mini', png(width, height)) + 1_600).toBe(tokens)
  })

  test('has the tokens of low detail where it asks for that, and the most where it is not to be made smaller', () => {
    expect(count('gpt-4o-mini', png(512, 512, 'low'))).toBe(1_233)
    expect(count('gpt-4o-mini', png(512, 512, 'high'))).toBe(6_900)
    expect(count('gpt-4o-mini', png(512, 512, 'original'))).toBe(46_569)
  })

  test('has the most tokens where its size cannot be read', () => {
    const url = 'data:image/png;base64,QUJD'
    expect(count('gpt-4o-mini', { type: 'image_url', image_url: { url } })).toBe(46_569)
  })

  test('has the most tokens behind 50 others, so that reading sizes is bounded', () => {
    const images = Array.from({ length: 51 }, () => png(512, 512))
    expect(count('gpt-4o-mini', ...images)).toBe(50 * 6_900 + 46_569)
  })

  test('has what it has at other models as before', () => {
    expect(count('gpt-4o', png(2_048, 768))).toBe(0)
    expect(count('claude-opus-5', png(1, 1))).toBe(3_184)
  })
})
