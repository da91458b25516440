import { describe, expect, test } from 'vitest'
import { isReservedName, RESERVED_NAMES, toPlainName } from './reserved-names.ts'

/** The fold of each character as Unicode defines it, of a name of any length. Marks belong to no letter: a parser may leave them out. */
function fold(name: string): string {
  return [...name]
    .map(character => character.normalize('NFKC').toUpperCase().toLowerCase())
    .join('')
    .replace(/[^a-z0-9]/g, '')
}

function* characters(): Generator<string> {
  for (let point = 0; point <= 0x10ffff; point++) {
    if (point < 0xd800 || point > 0xdfff) yield String.fromCodePoint(point)
  }
}

describe('names with other than ASCII characters', () => {
  test('each character is folded as Unicode does, alone and beside ASCII letters', () => {
    const different: string[] = []
    for (const character of characters()) {
      for (const name of [character, `m${character}a`]) {
        if (toPlainName(name) !== (/^[a-z0-9]*$/.test(name) ? name : fold(name))) different.push(name)
      }
    }
    expect(different).toEqual([])
  })

  test('no spelling of a reserved name is longer than what is folded, since no letter takes more than two units', () => {
    // A pair of surrogates each: bold letters, digits and a separator of their own.
    const widen = (name: string): string =>
      [...name.replaceAll('_', '\u{10100}')]
        .map(letter => {
          if (/[a-z]/.test(letter)) return String.fromCodePoint(0x1d41a - 97 + letter.charCodeAt(0))
          return /\d/.test(letter) ? String.fromCodePoint(0x1d7ce - 48 + letter.charCodeAt(0)) : letter
        })
        .join('')
    for (const name of RESERVED_NAMES) {
      const widest = widen(name)
      expect(widest.length).toBe(2 * name.length)
      expect(widest.length).toBeLessThanOrEqual(64)
      expect(isReservedName(widest)).toBe(true)
    }
  })

  test('no letter of a name is made of several characters: what composes is no ASCII letter', () => {
    const composed: string[] = []
    for (const character of characters()) {
      const parts = character.normalize('NFD')
      if (parts.length > character.length && /[a-z0-9]/i.test(parts.normalize('NFC')))
        composed.push(character)
    }
    expect(composed).toEqual([])
  })

  test('a longer name is not folded', () => {
    expect(toPlainName(`ｍodel${'-'.repeat(59)}`)).toBe('model')
    const longer = `ｍodel${'-'.repeat(60)}`
    expect(toPlainName(longer)).toBe(longer)
  })
})
