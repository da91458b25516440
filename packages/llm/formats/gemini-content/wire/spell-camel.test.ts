import { expect, test } from 'vitest'
import { spellCamel } from './spell-camel.ts'

test('spells every name in camel case, except the caller’s own names, and refuses both spellings at once', () => {
  const args = { snake_case: { in_it: 1 } }
  expect(
    spellCamel({
      system_instruction: { parts: [{ function_call: { name: 'f', args } }] },
      labels: { a_b: 'c' },
    }),
  ).toEqual({
    body: { systemInstruction: { parts: [{ functionCall: { name: 'f', args } }] }, labels: { a_b: 'c' } },
  })
  expect(spellCamel({ contents: { parts: { text: 'a' } } })).toEqual({
    body: { contents: [{ parts: [{ text: 'a' }] }] },
  })
  expect(spellCamel({ tools: [{ googleSearch: {}, google_search: {} }] })).toEqual({
    doubled: 'tools[0].google_search',
  })
})

test('treats the names of Object.prototype as any other', () => {
  const body = JSON.parse('{"__proto__":{"a_b":1},"constructor":{"to_string":2},"to_string":[]}')
  const spelled = spellCamel(body)
  expect(JSON.stringify(spelled)).toBe(
    '{"body":{"_Proto__":{"aB":1},"constructor":{"toString":2},"toString":[]}}',
  )
})

test('names the path of a name in both spellings, through lists of any depth', () => {
  const doubled = { a_b: 1, aB: 2 }
  expect(spellCamel({ contents: [[{ x: 1 }, { y_z: [doubled] }]] })).toEqual({
    doubled: 'contents[0][1].y_z[0].aB',
  })
  expect(spellCamel(doubled)).toEqual({ doubled: 'aB' })
  expect(spellCamel({ parts: [{ args: doubled }] })).toEqual({ body: { parts: [{ args: doubled }] } })
})

test('names the path of a name after 1,024 others, of which each counts once and the caller’s own do not', () => {
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]))
  expect(spellCamel({ generationConfig: named(1_024) })).toEqual({ crowded: 'generationConfig.n1023' })
  const spread = Array.from({ length: 60 }, (_, at) => ({ [`first${at}`]: 1, ...named(1_000) }))
  expect(spellCamel({ contents: spread })).toEqual({ crowded: 'contents[23].first23' })
  expect(spellCamel({ contents: { x: spread.slice(0, 20) }, args: named(5_000) })).toHaveProperty('body')
})
