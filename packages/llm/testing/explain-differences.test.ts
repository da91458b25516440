import { expect, test } from 'vitest'
import { findDifferences, openJustifications } from './explain-differences.ts'

test('every value that differs is found by its path, also what one side lacks', () => {
  expect(findDifferences({ a: [1, { b: 2 }], c: null }, { a: [1, { b: 3 }], d: 1 })).toEqual([
    { path: '/a/1/b', ours: 2, recorded: 3 },
    { path: '/c', ours: null, recorded: undefined },
    { path: '/d', ours: undefined, recorded: 1 },
  ])
  expect(findDifferences([], {})).toHaveLength(1)
  expect(findDifferences({ a: 1 }, { a: 1 })).toEqual([])
})

test('a justification covers its path and its recordings only, and tells when it covers nothing', () => {
  const star = { path: '/m/*/b', of: 'one/', why: '' }
  const below = { path: '/x/**', why: '' }
  const { unexplained, unused } = openJustifications([star, below])
  const at = (path: string) => [{ path, ours: 1, recorded: undefined }]
  expect(unused()).toEqual([star, below])
  expect(unexplained('one/a', at('/m/0/b'))).toEqual([])
  expect(unexplained('two/a', at('/m/0/b'))).toEqual(['/m/0/b: 1 instead of nothing'])
  expect(unexplained('one/a', at('/m/0/b/c'))).toHaveLength(1)
  expect(unexplained('one/a', at('/m/0'))).toHaveLength(1)
  expect(unused()).toEqual([below])
  expect(unexplained('any', at('/x/y/z'))).toEqual([])
  expect(unused()).toEqual([])
})
