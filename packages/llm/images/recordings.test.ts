import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../json/json-value.ts'
import { toObject, toObjects } from '../json/json-value.ts'
import type { Provider } from '../provider/provider.ts'
import { findProvider } from '../providers/index.ts'
import type { Target } from '../upstream/target.ts'
import { findImageFormat } from './find-image-format.ts'
import type { ImageFormat, ImageSource } from './image-format.ts'

/** Recorded traffic, kept beside the repository (see the test of the openai-chat format). */
const WIRE = new URL('../../../../shared/wire/', import.meta.url)

interface Recording {
  readonly name: string
  readonly target: Target
  readonly format: ImageFormat
  readonly url: string | undefined
  readonly request: JsonObject | undefined
  readonly status: number
  readonly body: JsonObject
}

function readAll(): Recording[] {
  return ['openai', 'xai'].flatMap(folder =>
    readdirSync(new URL(folder, WIRE))
      .filter(file => file.startsWith('images__') && !file.includes('variations'))
      .map(file => {
        const recording = JSON.parse(readFileSync(new URL(`${folder}/${file}`, WIRE), 'utf8'))
        const provider = findProvider(folder) as Provider
        const model: string = recording.model ?? 'dall-e-2'
        return {
          name: `${folder}/${file}`,
          target: {
            provider,
            model,
            baseUrl: new URL('/v1', recording.request?.url ?? 'https://p.example').href,
            apiKey: 'k',
          },
          format: findImageFormat(provider) as ImageFormat,
          url: recording.request?.url,
          request: parse(recording.request?.body),
          status: recording.response.status,
          body: parse(recording.response.body) ?? {},
        }
      }),
  )
}

function parse(text: unknown): JsonObject | undefined {
  try {
    return toObject(JSON.parse(String(text)) as Json)
  } catch {
    return undefined
  }
}

const recordings = existsSync(WIRE) ? readAll() : []
if (recordings.length === 0) console.log('0 recorded images: the folder of recordings is not here')
const answered = recordings.filter(({ status }) => status === 200)
const asked = recordings.filter(({ request }) => request !== undefined)

test.skipIf(recordings.length === 0)(
  'there are recordings of two providers, of drawing and of editing',
  () => {
    expect(answered.length).toBeGreaterThanOrEqual(5)
    expect(asked.length).toBeGreaterThanOrEqual(3)
  },
)

test.skipIf(recordings.length === 0).each(answered)(
  '$name: every image, as it was given',
  ({ format, target, body }) => {
    const reply = format.decodeReply(body, { ...target, baseUrl: target.provider.baseUrl ?? '' })
    const given = toObjects(body.data)
    expect(reply?.images.map(({ base64, url }) => base64 ?? url)).toEqual(
      given.map(each => each.b64_json ?? each.url),
    )
    const ticks = toObject(body.usage)?.cost_in_usd_ticks
    expect(reply?.costNanoUsd).toBe(ticks === undefined ? undefined : Number(ticks) / 10)
  },
)

test.skipIf(recordings.length === 0).each(asked)(
  '$name: we send what was recorded',
  ({ format, target, url, request }) => {
    const { model, prompt, n, size, quality, images } = request as Record<string, Json | undefined>
    const sources = toObjects(images).map(image => toSource(String(image.image_url ?? image.url)))
    const sent = format.encodeRequest(
      {
        model: String(model),
        prompt: String(prompt),
        n: typeof n === 'number' ? n : 1,
        ...(typeof size === 'string' ? { size } : {}),
        ...(typeof quality === 'string' ? { quality } : {}),
        ...(sources.length === 0 ? {} : { images: sources }),
      },
      target,
    )
    expect(`${sent.origin}${sent.path}`).toBe(url)
    // One image is what is made where no number is named.
    const { n: _, ...rest } = request as JsonObject
    expect(JSON.parse(sent.body.toString())).toEqual(n === 1 ? rest : request)
  },
)

function toSource(url: string): ImageSource {
  const match = /^data:([^;]+);base64,(.*)$/s.exec(url)
  return match === null
    ? { kind: 'url', url }
    : { kind: 'data', mediaType: match[1] as string, bytes: Buffer.from(match[2] as string, 'base64') }
}
