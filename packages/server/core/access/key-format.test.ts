import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../random.ts'
import { createKeyText, hashKeyText, type KeyForm, maskKeyText, parseKeyText } from './key-format.ts'

const FORMS: [string, KeyForm][] = [
  ['rd_sk_dev_', { kind: 'secret', environment: 'development' }],
  ['rd_sk_prod_', { kind: 'secret', environment: 'production' }],
  ['rd_pk_dev_', { kind: 'publishable', environment: 'development' }],
  ['rd_pk_prod_', { kind: 'publishable', environment: 'production' }],
  ['rd_mk_', { kind: 'management' }],
]

describe.each(FORMS)('a key %s…', (prefix, form) => {
  test('begins with its prefix and is parsed to its form', () => {
    const text = createKeyText(form, systemRandom)
    expect(text.startsWith(prefix)).toBe(true)
    expect(text).toMatch(/^[a-z_]+[0-9A-Za-z]{30}$/)
    expect(parseKeyText(text)).toEqual(form)
  })

  test('is not parsed with a typo, because of its checksum', () => {
    const text = createKeyText(form, systemRandom)
    fc.assert(
      fc.property(
        fc.integer({ min: prefix.length, max: text.length - 1 }),
        fc.constantFrom(...'0Az9q'),
        (at, letter) => {
          fc.pre(text[at] !== letter)
          expect(parseKeyText(text.slice(0, at) + letter + text.slice(at + 1))).toBeUndefined()
        },
      ),
    )
  })
})

test('generates different keys with different hashes', () => {
  const texts = Array.from({ length: 1000 }, () => createKeyText({ kind: 'management' }, systemRandom))
  expect(new Set(texts).size).toBe(1000)
  expect(new Set(texts.map(text => hashKeyText(text).toString('hex'))).size).toBe(1000)
})

test('discards bytes above 247 instead of mapping them to the first letters', () => {
  const random = {
    bytes: (length: number) => Buffer.concat([Buffer.from([255, 250, 248]), randomBytes(length)]),
  }
  expect(parseKeyText(createKeyText({ kind: 'management' }, random))).toEqual({ kind: 'management' })
})

test('masks all but the prefix and the last four characters', () => {
  const text = createKeyText({ kind: 'secret', environment: 'development' }, systemRandom)
  expect(maskKeyText(text)).toBe(`rd_sk_dev_…${text.slice(-4)}`)
})

test('returns undefined for text that is not a key', () => {
  for (const text of [
    '',
    'sk-proj-abc',
    'rd_sk_',
    'rd_sk_test_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    'rd_mk_dev_x',
  ]) {
    expect(parseKeyText(text)).toBeUndefined()
  }
})
