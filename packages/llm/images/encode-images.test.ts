import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import type { Target } from '../upstream/target.ts'
import { findImageFormat } from './find-image-format.ts'
import type { ImageFormat, ImageRequest, ImageSource } from './image-format.ts'

function toTarget(id: string, model: string, options: JsonObject = {}): Target {
  const provider = findProvider(id) as Provider
  return { provider, model, baseUrl: 'https://p.example/v9', apiKey: 'k', options }
}

function formatOf(id: string): ImageFormat {
  return findImageFormat(findProvider(id) as Provider) as ImageFormat
}

function toRequest(model: string, request: Partial<ImageRequest>): ImageRequest {
  return { model, prompt: 'a fox', n: 1, ...request }
}

function encode(
  id: string,
  model: string,
  request: Partial<ImageRequest>,
  dropped?: string[],
  options?: JsonObject,
) {
  const sent = formatOf(id).encodeRequest(toRequest(model, request), toTarget(id, model, options), dropped)
  return { ...sent, json: () => JSON.parse(sent.body.toString()) as JsonObject }
}

function findLost(id: string, model: string, request: Partial<ImageRequest>): readonly string[] {
  return formatOf(id).listUnsupportedParams(toRequest(model, request), toTarget(id, model))
}

const FOX = Buffer.from('\x89PNG fox', 'latin1')
const fox: ImageSource = { kind: 'data', mediaType: 'image/png', bytes: FOX }
const foxUrl = `data:image/png;base64,${FOX.toString('base64')}`
const far: ImageSource = { kind: 'url', url: 'https://i.example/1.png' }

describe('what a provider is sent', () => {
  test.each([
    [
      'openai',
      'gpt-image-1',
      {
        n: 2,
        size: '1024x1536',
        quality: 'high',
        background: 'transparent',
        outputFormat: 'webp',
        user: 'u',
      },
      '/v9/images/generations',
      {
        model: 'gpt-image-1',
        prompt: 'a fox',
        n: 2,
        size: '1024x1536',
        quality: 'high',
        background: 'transparent',
        output_format: 'webp',
        user: 'u',
      },
    ],
    [
      'openai',
      'dall-e-2',
      { responseFormat: 'b64_json', rest: { style: 'vivid', model: 'other', prompt: 'other' } },
      '/v9/images/generations',
      { model: 'dall-e-2', prompt: 'a fox', response_format: 'b64_json', style: 'vivid' },
    ],
    [
      'xai',
      'grok-imagine-image',
      { size: '1792x1024', responseFormat: 'b64_json' },
      '/v9/images/generations',
      { model: 'grok-imagine-image', prompt: 'a fox', aspect_ratio: '16:9', response_format: 'b64_json' },
    ],
    [
      'xai',
      'grok-imagine-image',
      { images: [fox, far] },
      '/v9/images/edits',
      {
        model: 'grok-imagine-image',
        prompt: 'a fox',
        images: [
          { type: 'image_url', url: foxUrl },
          { type: 'image_url', url: 'https://i.example/1.png' },
        ],
      },
    ],
    [
      'together',
      'black-forest-labs/FLUX.1-kontext-pro',
      { size: '1024x768', responseFormat: 'b64_json', images: [far], rest: { steps: 4 } },
      '/v9/images/generations',
      {
        model: 'black-forest-labs/FLUX.1-kontext-pro',
        prompt: 'a fox',
        width: 1024,
        height: 768,
        response_format: 'base64',
        image_url: 'https://i.example/1.png',
        steps: 4,
      },
    ],
    [
      'openrouter',
      'google/gemini-2.5-flash-image',
      { responseFormat: 'url', images: [fox] },
      '/v9/images',
      {
        model: 'google/gemini-2.5-flash-image',
        prompt: 'a fox',
        input_references: [{ type: 'image_url', image_url: { url: foxUrl } }],
      },
    ],
    [
      'fireworks',
      'accounts/fireworks/models/flux-1-schnell-fp8',
      { size: '1536x1024' },
      '/v9/workflows/accounts/fireworks/models/flux-1-schnell-fp8/text_to_image',
      { prompt: 'a fox', aspect_ratio: '3:2' },
    ],
    [
      'gemini',
      'gemini-3-pro-image-preview',
      { size: '2048x2048', images: [fox] },
      '/v9/models/gemini-3-pro-image-preview:generateContent',
      {
        contents: [
          {
            role: 'user',
            parts: [
              { text: 'a fox' },
              { inlineData: { mimeType: 'image/png', data: FOX.toString('base64') } },
            ],
          },
        ],
        generationConfig: {
          responseModalities: ['IMAGE'],
          imageConfig: { aspectRatio: '1:1', imageSize: '2K' },
        },
      },
    ],
    [
      'gemini',
      'imagen-4.0-generate-001',
      { n: 3 },
      '/v9/models/imagen-4.0-generate-001:predict',
      { instances: [{ prompt: 'a fox' }], parameters: { sampleCount: 3 } },
    ],
    [
      'vertex',
      'imagen-3.0-capability-001',
      { size: '1024x1024', outputFormat: 'jpeg', images: [fox] },
      '/v9/publishers/google/models/imagen-3.0-capability-001:predict',
      {
        instances: [
          {
            prompt: 'a fox',
            referenceImages: [
              {
                referenceType: 'REFERENCE_TYPE_RAW',
                referenceId: 1,
                referenceImage: { bytesBase64Encoded: FOX.toString('base64') },
              },
            ],
          },
        ],
        parameters: { sampleCount: 1, aspectRatio: '1:1', outputOptions: { mimeType: 'image/jpeg' } },
      },
    ],
    [
      'bedrock',
      'amazon.nova-canvas-v1:0',
      { n: 2, size: '1280x720', quality: 'high' },
      '/v9/model/amazon.nova-canvas-v1%3A0/invoke',
      {
        taskType: 'TEXT_IMAGE',
        textToImageParams: { text: 'a fox' },
        imageGenerationConfig: { numberOfImages: 2, width: 1280, height: 720, quality: 'premium' },
      },
    ],
    [
      'bedrock',
      'us.amazon.nova-canvas-v1:0',
      { images: [fox] },
      '/v9/model/us.amazon.nova-canvas-v1%3A0/invoke',
      {
        taskType: 'IMAGE_VARIATION',
        imageVariationParams: { text: 'a fox', images: [FOX.toString('base64')] },
        imageGenerationConfig: { numberOfImages: 1 },
      },
    ],
    [
      'bedrock',
      'stability.stable-image-core-v1:1',
      { size: '1024x1536', outputFormat: 'jpeg' },
      '/v9/model/stability.stable-image-core-v1%3A1/invoke',
      { prompt: 'a fox', aspect_ratio: '2:3', output_format: 'jpeg' },
    ],
  ] as [string, string, Partial<ImageRequest>, string, JsonObject][])(
    '%s %s %j',
    (id, model, request, path, body) => {
      const sent = encode(id, model, request)
      expect(sent.path).toBe(path)
      expect(sent.json()).toEqual(body)
      expect(findLost(id, model, request)).toEqual([])
    },
  )

  test('an edit goes to OpenAI as a form, whose files are the bytes that came', async () => {
    const mask: ImageSource = { kind: 'data', mediaType: 'image/webp', bytes: Buffer.from([0, 13, 10, 255]) }
    const { path, contentType, body } = encode('openai', 'gpt-image-1', {
      images: [fox, fox],
      mask,
      n: 2,
      rest: { input_fidelity: 'high', output_compression: 50 },
    })
    expect(path).toBe('/v9/images/edits')
    const headers = { 'content-type': contentType?.() ?? '' }
    const form = await new Response(body as Buffer, { headers }).formData()
    const fields = Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'))
    expect(fields).toEqual({
      model: 'gpt-image-1',
      prompt: 'a fox',
      n: '2',
      input_fidelity: 'high',
      output_compression: '50',
    })
    const files = form.getAll('image[]') as File[]
    expect(await Promise.all(files.map(async file => Buffer.from(await file.arrayBuffer())))).toEqual([
      FOX,
      FOX,
    ])
    const sentMask = form.get('mask') as File
    expect(sentMask.type).toBe('image/webp')
    expect([...new Uint8Array(await sentMask.arrayBuffer())]).toEqual([0, 13, 10, 255])
  })

  test('an edit that names an image by its address goes to OpenAI as JSON', () => {
    const { json, headers } = encode('openai', 'gpt-image-1', { images: [far, fox], mask: fox })
    expect(headers['content-type']).toBe('application/json')
    expect(json()).toEqual({
      model: 'gpt-image-1',
      prompt: 'a fox',
      images: [{ image_url: 'https://i.example/1.png' }, { image_url: foxUrl }],
      mask: { image_url: foxUrl },
    })
  })

  test('at Azure the deployment stands in the place of the model, and below the older address', () => {
    const options = { deployments: { 'gpt-image-1': 'ours' }, api_version: '2025-04-01-preview' }
    const sent = encode('azure', 'gpt-image-1', {}, [], options)
    expect(sent.path).toContain('/deployments/ours/images/generations?api-version=2025-04-01-preview')
    expect(sent.json().model).toBe('ours')
  })

  test('what is dropped is not sent', () => {
    const asked = { size: '640x480', quality: 'high', mask: fox, images: [fox] }
    expect(encode('xai', 'm', asked, ['size', 'quality', 'mask']).json()).toEqual({
      model: 'm',
      prompt: 'a fox',
      images: [{ type: 'image_url', url: foxUrl }],
    })
    const gemini = encode('gemini', 'gemini-2.5-flash-image', { size: '4096x4096' }, ['size']).json()
    expect(gemini.generationConfig).toEqual({ responseModalities: ['IMAGE'] })
    const nova = encode('bedrock', 'amazon.nova-canvas-v1:0', { quality: 'wild', size: '9000x9000' }, [
      'size',
      'quality',
    ]).json()
    expect(nova.imageGenerationConfig).toEqual({ numberOfImages: 1 })
  })
})

describe('what a target cannot honour', () => {
  test.each([
    ['openai', 'gpt-image-1', { size: '7x9', quality: 'odd', rest: { anything: 1 } }, []],
    ['xai', 'm', { size: '1000x300', quality: 'high', mask: fox }, ['quality', 'size', 'mask']],
    ['xai', 'm', { size: 'auto', quality: 'auto', background: 'auto', outputFormat: 'png' }, []],
    ['together', 'm', { images: [fox, fox], background: 'transparent' }, ['background', 'images']],
    ['openrouter', 'm', { mask: fox }, ['mask']],
    ['gemini', 'gemini-2.5-flash-image', { size: '4096x4096', quality: 'high' }, ['size', 'quality']],
    [
      'gemini',
      'gemini-3-pro-image-preview',
      { size: '1000x100', outputFormat: 'webp' },
      ['size', 'output_format'],
    ],
    [
      'vertex',
      'imagen-4.0-generate-001',
      { size: '1536x1024', outputFormat: 'webp', mask: fox },
      ['size', 'output_format', 'mask'],
    ],
    [
      'bedrock',
      'amazon.titan-image-generator-v2:0',
      { size: '2048x2048', quality: 'odd' },
      ['size', 'quality'],
    ],
    ['bedrock', 'stability.sd3-5-large-v1:0', { quality: 'high' }, ['quality']],
    [
      'fireworks',
      'm',
      { size: '1024x1024', rest: { seed: 3, moderation: 'auto', user_field: null } },
      ['seed'],
    ],
  ] as [string, string, Partial<ImageRequest>, string[]][])('%s %s %j', (id, model, request, names) => {
    expect(new Set(findLost(id, model, request))).toEqual(new Set(names))
  })

  test.each([
    ['openai', 'dall-e-3', false],
    ['openai', 'gpt-image-1', true],
    ['gemini', 'gemini-2.5-flash-image', true],
    ['vertex', 'imagen-4.0-generate-001', false],
    ['vertex', 'imagen-3.0-capability-001', true],
    ['bedrock', 'stability.sd3-5-large-v1:0', false],
    ['fireworks', 'm', false],
  ])('%s %s: edits images: %s', (id, model, can) => {
    expect(formatOf(id).canEdit(toTarget(id, model))).toBe(can)
  })

  test.each([
    ['openai', 'gpt-image-1', 10],
    ['openai', 'dall-e-3', 1],
    ['together', 'm', 1],
    ['gemini', 'gemini-2.5-flash-image', 1],
    ['vertex', 'imagen-4.0-generate-001', 4],
    ['bedrock', 'amazon.nova-canvas-v1:0', 5],
  ])('%s %s: images a call: %i', (id, model, max) => {
    expect(formatOf(id).maxImages(toTarget(id, model))).toBe(max)
  })
})
