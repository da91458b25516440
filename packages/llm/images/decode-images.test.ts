import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import { findImageFormat } from './find-image-format.ts'
import type { ImageReply } from './image-format.ts'

function decode(id: string, body: JsonObject, isOwnAddress = false): ImageReply | undefined {
  const provider = findProvider(id) as Provider
  const baseUrl = (isOwnAddress ? provider.baseUrl : undefined) ?? 'https://p.example/v9'
  const target = { provider, model: 'm', baseUrl, apiKey: 'k' }
  return findImageFormat(provider)?.decodeReply(body, target)
}

describe('what a provider answers', () => {
  test('OpenAI: base64, the fields of all images, and usage in disjoint buckets', () => {
    const reply = decode('openai', {
      created: 1,
      background: 'opaque',
      output_format: 'png',
      quality: 'high',
      size: '1024x1024',
      data: [{ b64_json: 'QUJD', revised_prompt: 'a red fox' }],
      usage: {
        input_tokens: 100,
        input_tokens_details: {
          text_tokens: 60,
          image_tokens: 40,
          cached_tokens: 30,
          cached_tokens_details: { text_tokens: 20, image_tokens: 10 },
        },
        output_tokens: 500,
        output_tokens_details: { text_tokens: 80, image_tokens: 420 },
        total_tokens: 600,
      },
    })
    expect(reply).toEqual({
      images: [{ base64: 'QUJD', revisedPrompt: 'a red fox' }],
      commonFields: { background: 'opaque', output_format: 'png', quality: 'high', size: '1024x1024' },
      usage: {
        textInput: 40,
        textCacheRead: 20,
        imageInput: 30,
        imageCacheRead: 10,
        textOutput: 80,
        imageOutput: 420,
      },
    })
  })

  test.each([
    ['in ticks', 'xai', { cost_in_usd_ticks: 700_000_000 }, 70_000_000],
    ['in dollars', 'openrouter', { cost: 0.0387 }, 38_700_000],
    ['as nonsense', 'openrouter', { cost: -1 }, undefined],
    ['in another’s words', 'xai', { cost: 0.5 }, undefined],
    ['absurdly', 'xai', { cost_in_usd_ticks: 1e18 }, undefined],
  ])('a cost that the provider names %s', (_, id, usage, cost) => {
    expect(decode(id, { data: [{ url: 'https://i.example/a' }], usage }, true)?.costNanoUsd).toBe(cost)
  })

  test('ignores a cost that another provider names, or that comes from another address', () => {
    const body = { data: [{ url: 'https://i.example/a' }], usage: { cost: 0, cost_in_usd_ticks: 0 } }
    for (const id of ['custom', 'openai', 'xai', 'openrouter']) {
      expect(decode(id, body)).not.toHaveProperty('costNanoUsd')
    }
    expect(decode('openai', body, true)).not.toHaveProperty('costNanoUsd')
  })

  test('Gemini: the image, not its drafts; tokens by their kind; thoughts are words', () => {
    const reply = decode('gemini', {
      candidates: [
        {
          content: {
            parts: [
              { thought: true, inlineData: { mimeType: 'image/png', data: 'draft' } },
              { text: 'Here it is.' },
              { inlineData: { mimeType: 'image/png', data: 'QUJD' } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {
        promptTokenCount: 300,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 42 },
          { modality: 'IMAGE', tokenCount: 258 },
        ],
        candidatesTokenCount: 1295,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
        thoughtsTokenCount: 7,
      },
    })
    expect(reply).toEqual({
      images: [{ base64: 'QUJD', mediaType: 'image/png' }],
      usage: {
        textInput: 42,
        textCacheRead: 0,
        imageInput: 258,
        imageCacheRead: 0,
        textOutput: 12,
        imageOutput: 1290,
      },
    })
  })

  test.each([
    ['gemini', { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }],
    ['gemini', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }],
    ['vertex', { predictions: [{ raiFilteredReason: 'no' }] }],
    ['vertex', {}],
    ['bedrock', { images: [], error: 'All images were blocked' }],
    ['bedrock', { finish_reasons: ['Filter reason: prompt'], seeds: [], images: [] }],
    ['fireworks', { finishReason: 'CONTENT_FILTERED', base64: ['QUJD'] }],
  ] as [string, JsonObject][])('%s: decodes images that its policy withheld as filtered: %j', (id, body) => {
    expect(decode(id, body)).toMatchObject({ images: [], isFiltered: true })
  })

  test.each([
    ['openai', {}],
    ['openai', { data: [{}] }],
    ['gemini', { candidates: [{ finishReason: 'NO_IMAGE' }] }],
    ['vertex', { predictions: [{ other: 1 }] }],
    ['bedrock', { images: [] }],
    ['fireworks', {}],
  ] as [string, JsonObject][])('%s: no image is no answer: %j', (id, body) => {
    expect(decode(id, body)).toBeUndefined()
  })

  test('Imagen: those that its policy left, with their types', () => {
    const body = {
      predictions: [{ bytesBase64Encoded: 'QQ==', mimeType: 'image/jpeg' }, { raiFilteredReason: 'x' }],
    }
    expect(decode('vertex', body)?.images).toEqual([{ base64: 'QQ==', mediaType: 'image/jpeg' }])
  })

  test('Fireworks: base64 bare or as a data URL', () => {
    expect(decode('fireworks', { base64: ['data:image/png;base64,QQ==', 'Qg=='] })?.images).toEqual([
      { base64: 'QQ==', mediaType: 'image/png' },
      { base64: 'Qg==' },
    ])
  })
})
