import { expect, test } from 'vitest'
import { parseAuditSearch } from '../pages/audit-log/audit-search.ts'
import { toDiff } from './to-diff.ts'

test('names the fields that differ by their path, and leaves out what changes with every write', () => {
  const before = { limit: 60, scope: { kind: 'org' }, events: ['a'], updated_at: '1', gone: null }
  const after = { limit: 120, scope: { kind: 'key' }, events: ['a'], updated_at: '2', made: true }
  expect(toDiff(before, after)).toEqual([
    { path: 'limit', before: '60', after: '120' },
    { path: 'scope.kind', before: '"org"', after: '"key"' },
    { path: 'made', before: undefined, after: 'true' },
    { path: 'gone', before: 'null', after: undefined },
  ])
})

test('shows a creation as fields that were absent, and nothing for no records', () => {
  expect(toDiff(null, { name: 'x' })).toEqual([{ path: 'name', before: undefined, after: '"x"' }])
  expect(toDiff(null, null)).toEqual([])
})

test('takes filters of the form of the API only', () => {
  const id = '0192f0c1-0000-7000-8000-000000000000'
  expect(parseAuditSearch({ operation: ' keys.create ', actor_id: id, colour: 'red' })).toEqual({
    operation: 'keys.create',
    actor_id: id,
  })
  expect(parseAuditSearch({ operation: '', actor_id: 'x', resource_id: 5 })).toEqual({})
})
