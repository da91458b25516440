import { expect, test } from 'vitest'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import { readThreadMs } from '../testing/read-thread-ms.ts'
import { findForbidden, type OutgoingBody } from '../upstream/outgoing-body.ts'
import type { Grant } from '../upstream/outgoing-rules.ts'
import type { Target } from '../upstream/target.ts'
import { findImageFormat } from './find-image-format.ts'
import type { ImageFormat, ImageRequest, ImageSource } from './image-format.ts'
import { parseSources } from './image-request.ts'
import { geminiImages } from './served/gemini.ts'

/** Images of megabytes are encoded and decoded when the body that has them is written, which is done in steps. */

const MiB = 1_048_576

/** With the collection of garbage: each long text that is made brings some. */
function measureMs(work: () => unknown): number {
  const startedAt = readThreadMs()
  work()
  return readThreadMs() - startedAt
}
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const FOX = Buffer.concat([PNG, Buffer.alloc(1_000_001, 'a fox, ')])
const toSource = (bytes: Buffer): ImageSource => ({ kind: 'data', mediaType: 'image/png', bytes })
const far: ImageSource = { kind: 'url', url: 'https://i.example.com/1.png' }

function encode(id: string, model: string, request: Partial<ImageRequest>) {
  const provider = findProvider(id) as Provider
  const target: Target = { provider, model, baseUrl: 'https://p.example/v9', apiKey: 'k', options: {} }
  const format = findImageFormat(provider) as ImageFormat
  return format.encodeRequest({ model, prompt: 'a fox', n: 1, ...request }, target)
}

const TARGETS = [
  ['openai', 'gpt-image-1', [far]],
  ['xai', 'grok-imagine-image', []],
  ['together', 'black-forest-labs/FLUX.1-kontext-pro', []],
  ['openrouter', 'google/gemini-2.5-flash-image', []],
  ['gemini', 'gemini-2.5-flash-image', []],
  ['vertex', 'imagen-3.0-capability-001', []],
  ['bedrock', 'amazon.nova-canvas-v1:0', []],
] as const

test.each(TARGETS)('%s %s is sent a long image as it is sent a short one', (id, model, others) => {
  const { body, content } = encode(id, model, { images: [toSource(FOX), ...others] })
  const short = encode(id, model, { images: [toSource(PNG), ...others] })
  expect('pieces' in body).toBe(true)
  const expected = short.body.toString().replace(PNG.toString('base64'), FOX.toString('base64'))
  expect(body.toString() === expected).toBe(true)
  const grant: Grant = {
    ...{ sender: 'end_user', model, isStream: false, choices: 1, maxOutputTokens: undefined },
    addresses: others.length === 0 ? 'none' : 'public',
  }
  expect(findForbidden(content as OutgoingBody, grant)).toBeUndefined()
})

test.each(TARGETS)('%s %s: 20 requests with 23 MiB are encoded in little time', (id, model, others) => {
  const images = [toSource(Buffer.alloc(23 * MiB, 'a fox')), ...others]
  expect(
    measureMs(() => {
      for (let at = 0; at < 20; at++) encode(id, model, { images })
    }),
  ).toBeLessThan(30)
})

const URL = `data:image/png;base64,${FOX.toString('base64')}`

test('a long image in base64 goes to OpenAI as the file that it is', async () => {
  const { images } = parseSources({ images: [{ image_url: URL }] })
  const { body, contentType } = encode('openai', 'gpt-image-1', { images })
  if (!('pieces' in body)) throw new Error('the form is written at once')
  const bytes = Buffer.concat([...body.pieces()])
  const form = await new Response(bytes, {
    headers: { 'content-type': contentType?.() ?? '' },
  }).formData()
  const file = form.get('image') as File
  expect(file.type).toBe('image/png')
  expect(Buffer.from(await file.arrayBuffer()).equals(FOX)).toBe(true)
})

const LONG = Buffer.concat([PNG, Buffer.alloc(23 * MiB + 1)]).toString('base64')
/** In one piece, as texts of a parsed body are. */
const LONG_URL = Buffer.from(`data:image/png;base64,${LONG}`).toString('latin1')

test('31 MiB of base64 are not decoded when they are read', () => {
  const body = { images: [{ image_url: LONG_URL }] }
  const contents = [{ parts: [{ text: 'a fox' }, { inlineData: { data: LONG } }] }]
  const context = { pathModel: 'gemini-2.5-flash-image', isEndUser: false }
  expect(
    measureMs(() => {
      for (let at = 0; at < 10; at++) {
        parseSources(body)
        geminiImages.parse({ contents }, context)
      }
    }),
  ).toBeLessThan(30)
})

test('an image in base64 is read once, whatever stands between its digits', () => {
  const folded = FOX.toString('base64').replace(/.{76}/g, '$&\r\n')
  const { images } = parseSources({ images: [{ image_url: `data:image/png;base64,${folded}` }] })
  const { body } = encode('gemini', 'gemini-2.5-flash-image', { images })
  const whole = encode('gemini', 'gemini-2.5-flash-image', { images: [toSource(FOX)] })
  expect(body.toString() === whole.body.toString()).toBe(true)
})

test.each(['', 'YSBmb3g=', 'a fox'])('what is no image is refused: %j', text => {
  const bytes = text + 'YSBmb3g'.repeat(20_000)
  expect(() => parseSources({ images: [{ image_url: `data:image/png;base64,${bytes}` }] })).toThrow(
    'images[0].image_url: is not an image that we know.',
  )
})
