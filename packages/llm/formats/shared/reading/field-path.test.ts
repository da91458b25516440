import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinPath, showPath, toSteps } from './field-path.ts'

const NAME = fc.oneof(
  fc.constantFrom('a', 'a.b', '[0]', 'a[0]', '"', 'a"].b', '\\', '', '0', 'é', 'a b', '["x"]', '__proto__'),
  fc.string(),
)

test('toSteps returns the names that the path was made of', () => {
  fc.assert(
    fc.property(fc.array(NAME, { minLength: 1, maxLength: 5 }), names => {
      expect(toSteps(names.reduce(joinPath, ''))).toEqual(names)
    }),
  )
})

test('two fields never have the same path', () => {
  const names = fc.array(NAME, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(names, names, (one, other) => {
      fc.pre(JSON.stringify(one) !== JSON.stringify(other))
      expect(one.reduce(joinPath, '')).not.toBe(other.reduce(joinPath, ''))
    }),
  )
})

test.each([
  ['tools[0].googleSearch', 'tools[0].googleSearch'],
  [joinPath('', 'a.b'), 'a.b'],
  [joinPath('generationConfig', 'a.b'), 'generationConfig.a.b'],
  [joinPath(joinPath('', 'a"].b'), 'c'), 'a"].b.c'],
  // A field name of another format that looks like a path.
  ['a["\\q"]', 'a["\\q"]'],
])('%s is shown as %s', (path, shown) => {
  expect(showPath(path)).toBe(shown)
})
