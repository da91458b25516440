import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../json/json-value.ts'
import { answerImages } from './image.ts'

const imagesOf = (body: JsonObject): string[] =>
  (answerImages(body).data as { b64_json: string }[]).map(({ b64_json: base64 }) => base64)

test('the same request always gives the same images, other words others, and each of one answer is its own', () => {
  const fox = imagesOf({ prompt: 'a fox', n: 2 })
  expect(imagesOf({ prompt: 'a fox', n: 2 })).toEqual(fox)
  expect(new Set([...fox, ...imagesOf({ prompt: 'a cat' })]).size).toBe(3)
})

test('each is a PNG of 64 by 64 pixels, whose parts hold together', () => {
  const [base64] = imagesOf({ prompt: 'a fox' })
  const png = Buffer.from(base64 as string, 'base64')
  expect(png.subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([64, 64])
  const names: string[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const name = png.toString('latin1', at + 4, at + 8)
    names.push(name)
    if (name === 'IDAT')
      expect(inflateSync(png.subarray(at + 8, at + 8 + length))).toHaveLength(64 * (1 + 64 * 3))
    at += 12 + length
  }
  expect(names).toEqual(['IHDR', 'IDAT', 'IEND'])
})
