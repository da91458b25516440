import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** A video is of unknown length in any form, and Alibaba's images of unknown size where a caller sets their pixels. */

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const MP4 = 'AAAAGGZ0eXBpc29t'
const image = (more: object, within: object = {}): object => ({
  type: 'image_url',
  image_url: { url: PNG, ...within },
  ...more,
})

const UNMEASURED: [string, object][] = [
  ['a video', { type: 'video_url', video_url: { url: `data:video/mp4;base64,${MP4}` } }],
  ['a video without a media type', { type: 'video_url', video_url: { url: `data:;base64,${MP4}` } }],
  ['the frames of a video', { type: 'video', video: Array.from({ length: 20 }, () => PNG), fps: 2 }],
  ['a video under the name of another part', { type: 'x', video: [PNG] }],
  ['an image with max_pixels', image({ max_pixels: 2_621_440 })],
  ['an image with min_pixels', image({ min_pixels: 2_621_440 })],
  ['an image with pixels beside its address', image({}, { max_pixels: 2_621_440 })],
]

let limited: LimitedApp
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.addCredentials('alibaba')
})
afterAll(() => limited.close())

function ask(key: string, part: object, more: object = {}) {
  const body = {
    model: 'alibaba/qwen3-vl-plus',
    max_tokens: 64,
    messages: [{ role: 'user', content: [part] }],
    ...more,
  }
  return limited.ask('/openai/v1/chat/completions', body, key)
}

describe('a key with max_request_cost_usd', () => {
  let key: string
  beforeAll(async () => {
    key = (await limited.app.createKey({ restrictions: { max_request_cost_usd: 0.05 } })).key
  })

  test.each(UNMEASURED)('is refused %s with 400', async (_what, part) => {
    const answer = await ask(key, part)
    expect(answer).toMatchObject({ status: 400, wasSent: false })
    expect(answer.text).toContain('adds input that cannot be counted in advance')
  })

  test('may send an image', async () => {
    expect(await ask(key, image({}))).toMatchObject({ wasSent: true })
  })

  test('may not set the pixels of all images', async () => {
    expect(await ask(key, image({}), { min_pixels: 9e6 })).toMatchObject({ status: 400, wasSent: false })
  })
})

test.each(UNMEASURED)(
  'a budget that does not pay for the context window refuses %s with 402',
  async (_what, part) => {
    const { key } = await limited.freshKey(0.02)
    expect(await ask(key, part)).toMatchObject({ status: 402, wasSent: false })
  },
)
