import { describe, expect, test } from 'vitest'
import type { Provider } from '../provider/provider.ts'
import { findModel } from '../providers/catalog.ts'
import { findProvider } from '../providers/index.ts'
import { findImageFormat } from './find-image-format.ts'
import type { ImageRequest, ImageUsage } from './image-format.ts'
import { imageCostNanoUsd, maxImageUsage } from './image-pricing.ts'

const USAGE: ImageUsage = {
  textInput: 100,
  textCacheRead: 10,
  imageInput: 200,
  imageCacheRead: 20,
  textOutput: 30,
  imageOutput: 1000,
}

function priceOf(id: string, model: string, request: Partial<ImageRequest>): number | null {
  const provider = findProvider(id) as Provider
  const asked = { model, prompt: 'a', n: 1, ...request }
  const factor = findImageFormat(provider)?.priceFactor?.(asked, model)
  return imageCostNanoUsd(asked.n, undefined, findModel(id, model)?.image_pricing, factor)
}

describe('what images cost', () => {
  test('by token: each kind at its own price, rounded up once', () => {
    const prices = {
      text_input: 5,
      text_cache_read: 1.25,
      image_input: 8,
      image_cache_read: 2,
      text_output: 10,
      image_output: 30.000001,
    }
    // 500 + 12.5 + 1600 + 40 + 300 + 30000.001 millionths of a dollar.
    expect(imageCostNanoUsd(1, USAGE, prices)).toBe(32_452_501)
  })

  test('a kind without a price of its own costs what the next of it does; without any the cost is unknown', () => {
    expect(imageCostNanoUsd(1, USAGE, { text_input: 1, image_output: 2 })).toBe(330_000 + 2_060_000)
    expect(imageCostNanoUsd(1, USAGE, { text_input: 1 })).toBeNull()
  })

  test('no price, or no usage where tokens are priced: unknown, never zero', () => {
    expect(imageCostNanoUsd(1, USAGE, undefined)).toBeNull()
    expect(imageCostNanoUsd(1, undefined, { image_output: 30 })).toBeNull()
  })

  test.each([
    ['openai', 'dall-e-3', {}, 0.04],
    ['openai', 'dall-e-3', { size: '1792x1024' }, 0.08],
    ['openai', 'dall-e-3', { quality: 'hd' }, 0.08],
    ['openai', 'dall-e-3', { size: '1024x1792', quality: 'hd' }, 0.12],
    ['bedrock', 'amazon.nova-canvas-v1:0', { n: 2 }, 0.08],
    ['bedrock', 'amazon.nova-canvas-v1:0', { quality: 'high' }, 0.06],
    ['bedrock', 'amazon.nova-canvas-v1:0', { size: '2048x2048', quality: 'high' }, 0.08],
    ['bedrock', 'amazon.titan-image-generator-v2:0', {}, 0.01],
    ['bedrock', 'amazon.titan-image-generator-v2:0', { size: '512x512' }, 0.008],
    ['bedrock', 'amazon.titan-image-generator-v2:0', { quality: 'hd' }, 0.012],
    ['vertex', 'imagen-4.0-fast-generate-001', { n: 4, size: '1024x1024' }, 0.08],
    ['sandbox', 'image', { n: 3 }, 0.03],
  ] as [string, string, Partial<ImageRequest>, number][])('%s %s %j: $%d', (id, model, request, usd) => {
    expect(priceOf(id, model, request)).toBe(Math.round(usd * 1e9))
  })
})

describe('the most that a token-priced request may use', () => {
  test.each([
    [{}, 6240],
    [{ size: '1024x1024' }, 4160],
    [{ size: '1536x1024' }, 6240],
    [{ size: '1024x1536', quality: 'low' }, 408],
    [{ size: '1536x1024', quality: 'medium', n: 2 }, 3168],
    [{ size: '3840x2160' }, 32_907],
  ])('%j: %i tokens of images', (request, tokens) => {
    const asked = { model: 'm', prompt: 'a', n: 1, ...request }
    expect(maxImageUsage(asked, 10, {}, 'gpt-image-1').imageOutput).toBe(tokens)
  })

  test.each([
    ['high', 7034],
    ['medium', 1767],
    [undefined, 7034],
  ])('an image of GPT Image 2 in quality %s: %i tokens', (quality, tokens) => {
    const asked = {
      model: 'm',
      prompt: 'a',
      n: 1,
      size: '1024x1024',
      ...(quality === undefined ? {} : { quality }),
    }
    expect(maxImageUsage(asked, 10, {}, 'gpt-image-2-2026-04-21').imageOutput).toBe(tokens)
  })

  test('a format that has a table of its own goes by it, whatever the size', () => {
    const format = findImageFormat(findProvider('gemini') as Provider)
    const asked = { model: 'm', prompt: 'a', n: 2, size: '4096x4096' }
    const max = (model: string): number =>
      maxImageUsage(asked, 10, {}, model, format?.maxImageTokens?.(model)).imageOutput
    expect([max('gemini-2.5-flash-image'), max('gemini-3-pro-image-preview')]).toEqual([2580, 5040])
  })

  test('images that are given, their mask, and the words of a model that says some', () => {
    const image = { kind: 'url', url: 'https://i.example' } as const
    const asked = { model: 'm', prompt: 'a', n: 2, images: [image], mask: image }
    expect(maxImageUsage(asked, 10, { text_output: 1 }, 'm')).toMatchObject({
      textInput: 20,
      imageInput: 25_200,
      textOutput: 8192,
    })
  })

  test.each([
    [100, 4096],
    [32_768, 32_768],
    [1e300, 65_536],
  ])('the words that maxOutputTokens allows, if they are more than usual: %d', (maxOutputTokens, tokens) => {
    const google = { contents: [], config: { maxOutputTokens }, only: [], unknownFields: [] }
    const asked = { model: 'm', prompt: 'a', n: 1, google }
    expect(maxImageUsage(asked, 10, { text_output: 1 }, 'm').textOutput).toBe(tokens)
  })
})
