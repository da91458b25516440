import { expect, test } from 'vitest'
import type { Json } from '../json/json-value.ts'
import { measureMs } from '../testing/measure-ms.ts'
import { JsonTexts } from './json-texts.ts'
import type { MediaAddresses } from './media-addresses.ts'
import { findReference, findStoredContent, findStoredState } from './stored-state.ts'

test.each<[string, Json]>([
  ...['vector_store_id', 'knowledge_base_id', 'memory_id', 'skill_id', 'cache_id', 'document_id'].map(
    (name): [string, Json] => [name, 'a'],
  ),
  ['vectorStoreIds', ['a']],
  ['fileSearchStoreNames', ['a']],
  ['input_file_id', 'a'],
  ['file', 'file-6F2ksmvXxt4VdoqmHRw6kL'],
  ['files', ['file-fe-qBKjZKfTx64R9oYmwyovNHBH']],
  ['documents', [{ file_id: 'f' }]],
  ['documents', '[{"file_id":"f"}]'],
  ['documents', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
  ['documents', [{ image: 'http://10.0.0.1' }]],
  ['documents', ['http://10.0.0.1']],
  ['a', 'gs:x'],
  ['a', 'url:http://10.0.0.1'],
  ['a', 'jar:http://10.0.0.1!/'],
  ['src', '//10.0.0.1/a'],
])('a setting names what is stored, or an address: %s %j', (name, value) => {
  expect(findStoredState('x', { [name]: value }, new JsonTexts(), 'public')).toBeDefined()
})

test.each<[string, Json]>([
  ['file', 'a.pdf'],
  ['file', 'file_utils.py'],
  ['files', ['file-handler.ts']],
  ['guided_json', { properties: { file_id: { type: 'string' } } }],
  ['documents', [{ document_id: 'd', title: 'file:a', text: '["store": 1]' }, '// a'] as Json],
  ['filename', 'a.pdf'],
  ['text', 'Note: a / b'],
  ['text', '// a comment'],
  ['text', 'see https://a.example/'],
])('a setting names nothing stored: %s %j', (name, value) => {
  expect(findStoredState('x', { [name]: value }, new JsonTexts(), 'public')).toBeUndefined()
})

const findContent = (value: Json, addresses: MediaAddresses = 'none'): string | undefined =>
  findStoredContent('x', value, addresses, new JsonTexts())

const NAMED_BY_NAME: readonly Json[] = [
  ...['file_id', 'FileId', 'container_id', 'containerID', 'document_id', 'vector_store_id', 'session_id'].map(
    name => ({ a: [{ [name]: 'x' }] }),
  ),
  { store: true },
  { file: ' file-6F2ksmvXxt4VdoqmHRw6kL' },
]
const NAMED_BY_ADDRESS: readonly Json[] = [
  { a: 'http://10.0.0.1' },
  { image: ['file:/etc/passwd'] },
  { source: '//10.0.0.1/a' },
  { video_url: '10.0.0.1' },
  { text: { url: 'http://10.0.0.1' } },
  { type: 'novel', url: 'http://10.0.0.1' },
  { type: 'open_page', url: { url: 'http://10.0.0.1' } },
  { type: 'web_search_result', image_url: 'http://10.0.0.1' },
]

test.each([...NAMED_BY_NAME, ...NAMED_BY_ADDRESS])('content of an unknown kind may not hold %j', value => {
  expect(findContent(value, 'public')).toMatch(/^x\./)
  expect(findContent(value)).toMatch(/^x\./)
})

const LOOKS: readonly string[] = [
  '//go:build linux',
  'file:a.c',
  "{name: 'a'}",
  '{"file_id":"f"}',
  '[{"a":1},]',
]

test.each(LOOKS)('a text of unknown content is shown to the model, whatever it looks like: %j', text => {
  for (const name of ['text', 'stdout', 'code', 'diff', 'cited_text', 'output', 'content', 'logs']) {
    expect(findContent({ a: { [name]: text }, lines: [text] })).toBeUndefined()
  }
})

test('a text of unknown content is not read as JSON', () => {
  expect(findContent({ a: '{"file_id":"f"}', b: '{a: 1}', c: ['[1,]'] })).toBeUndefined()
})

test('the address that a search of the provider went to is no address of media', () => {
  const visits = ['web_search_result', 'web_fetch_result', 'open_page', 'find_in_page'].map(type => ({
    type,
    url: 'http://a.example/',
  }))
  expect(findContent(visits)).toBeUndefined()
})

test('what a provider wrote beside an answer may name no file or container, and holds any text', () => {
  for (const name of ['file_id', 'FILE-ID', 'fileIds', 'container_id', 's3Location', 'cachedContent'])
    expect(findReference([{ a: { [name]: 'x' } }], new JsonTexts())).toBe(`[0].a.${name}`)
  const other = { file_id: null, document_id: 'd', url: 'http://a.example', text: '{a: 1}' }
  expect(findReference([other], new JsonTexts())).toBeUndefined()
})

test('content may have as many names as a body, if they are usual ones', () => {
  const results = Array.from({ length: 15_000 }, () => ({
    title: 'a',
    page_age: 'b',
    content_length: 1,
    rank: 2,
  }))
  expect(findContent(results)).toBeUndefined()
  expect(findReference(results, new JsonTexts())).toBeUndefined()
})

test('content of more long names is not looked through', () => {
  const names = Array.from({ length: 60_000 }, (_, at) => [`${'ab_cd_ef_g'.repeat(5)}x${at}`, 1])
  const content = Object.fromEntries(names) as Json
  const usedMs = measureMs(() => {
    expect(findContent(content)).toMatch(/^x\.ab_cd/)
  })
  // All of them took 55.
  expect(usedMs).toBeLessThan(45)
  expect(findReference(content, new JsonTexts())).toMatch(/^\.ab_cd/)
  expect(findStoredState('documents', content, new JsonTexts())).toMatch(/^documents\.ab_cd/)
})
