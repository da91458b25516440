import type { ChatRequest } from '@rideau/llm/request/chat-request'
import type { ContentPart } from '@rideau/llm/request/message'
import { expect, test } from 'vitest'
import { countLargeImages } from './image-tokens.ts'

const image = (detail?: string): ContentPart => ({
  type: 'image_url',
  image_url: { url: 'https://a.example/b.png', ...(detail === undefined ? {} : { detail }) },
})
const PDF: ContentPart = { type: 'image_url', image_url: { url: 'data:application/pdf;base64,QUJD' } }

function count(models: readonly string[], ...content: ContentPart[]): number {
  const request: ChatRequest = {
    model: 'm',
    stream: false,
    includeUsage: false,
    messages: [
      { role: 'system', content: 'x' },
      { role: 'user', content: [{ type: 'text', text: 'x' }, ...content] },
    ],
  }
  return countLargeImages(
    request,
    models.map(model => ({ model })),
  )
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
  expect(count([model], image())).toBe(more)
  expect(count([model], image('high'), image('auto'))).toBe(2 * more)
})

test('the model that counts most decides, and the detail of the image', () => {
  expect(count(['gpt-4o', 'claude-opus-5', 'gpt-5-nano'], image())).toBe(3_184)
  expect(count(['gpt-4o-mini'], image('low'))).toBe(1_233)
  expect(count(['gpt-4o'], image('low'))).toBe(0)
  expect(count(['gpt-5.4'], image('original'))).toBe(10_400)
})

test('nothing is added without an image, and none for a file in the place of one, which is counted by its length', () => {
  expect(count(['gpt-4o-mini'])).toBe(0)
  expect(count(['gpt-4o-mini'], PDF)).toBe(0)
})
