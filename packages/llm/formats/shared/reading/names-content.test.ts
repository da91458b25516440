import { describe, expect, test } from 'vitest'
import type { Json } from '../../../json/json-value.ts'
import { runAtOnce } from '../../../json/run-at-once.ts'
import { measureMs } from '../../../testing/measure-ms.ts'
import { allTextsLeft, namesUnreadContent, searchStoredFiles } from './names-content.ts'

const page = { type: 'web_search_result', url: 'https://a.example/', title: 'a' }

describe('namesUnreadContent', () => {
  test.each([
    { type: 'web_search_tool_result', tool_use_id: 't', content: [page] },
    {
      type: 'web_search_call',
      id: 'w',
      action: { type: 'search', sources: [{ url: 'https://a.example/' }] },
    },
    { type: 'file_search_call', id: 'f', results: [{ file_id: 'file-1', text: 'a' }] },
    { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'https://a.example/a.git' }] },
    { type: 'thinking', thinking: 'see https://a.example/' },
  ])('is false for what is sent back with a conversation: %j', part => {
    expect(namesUnreadContent(part, allTextsLeft())).toBe(false)
  })

  test.each([
    { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
    { type: 'input_file', file_url: 'https://a.example/a.pdf' },
    { type: 'custom_call_output', output: [{ type: 'input_file', file_url: 'https://a.example/a.pdf' }] },
    { type: 'custom_call_output', output: [{ type: 'input_file', file_id: 'file-1' }] },
    { type: 'container_upload', file_id: 'file-1' },
    { type: 5, url: 'gs://bucket/a' },
    { type: 'novel', data: 'JVBERi0x' },
    { type: 'novel', data: ' data:application/zip;base64,UEsDBBQA' },
    { type: 'novel', data: `${' '.repeat(1_400)}JVBERi0x` },
    { type: 'novel', data: `data:application/${'x'.repeat(1_400)};base64,JVBERi0x` },
  ])('is true for content that is not in the body: %j', part => {
    expect(namesUnreadContent(part, allTextsLeft())).toBe(true)
  })
})

describe.each(['novel', 'novel_call_output'])(
  'namesUnreadContent of many names in an item of the type %s',
  type => {
    test('is false for as many as a body has, if they are usual ones', () => {
      const results = Array.from({ length: 15_000 }, () => ({
        title: 'a',
        page_age: 'b',
        content_length: 1,
        rank: 2,
      }))
      expect(namesUnreadContent({ type, results }, { ...allTextsLeft(), texts: 1e6 })).toBe(false)
    })

    test('is true for more long ones, all of which took 50 to 60 ms', () => {
      const names = Array.from({ length: 60_000 }, (_, at) => [`${'ab_cd_ef_g'.repeat(5)}x${at}`, 1])
      const item = { type, results: Object.fromEntries(names) as Json }
      const usedMs = measureMs(() => expect(namesUnreadContent(item, allTextsLeft())).toBe(true))
      expect(usedMs).toBeLessThan(60)
    })
  },
)

describe('searchStoredFiles', () => {
  const UNSEEN = '\u200b\u00ad\u{e0041}'

  test.each([
    'fileid://file-1',
    'Read FileID://file-1.',
    [...'fileid://file-1'].join(UNSEEN),
    `${'x'.repeat(65_530)}fileid://file-1`,
    `${'x'.repeat(65_530)}${[...'fileid://'].join(UNSEEN.repeat(20))}file-1`,
    `${'fileid:/'.repeat(10_000)}/`,
  ])('is true wherever the name of a stored file stands (case %#)', text => {
    expect(runAtOnce(searchStoredFiles([text]))).toBe(true)
  })

  test.each([
    'fileid:/ /file-1',
    'fileid',
    'field://file-1',
    '',
    'x'.repeat(200_000),
    `${'fileid:/'.repeat(10_000)}`,
  ])('is false for any other value (case %#)', text => {
    expect(runAtOnce(searchStoredFiles([text]))).toBe(false)
  })

  test.each([
    ['prose', 'The quick brown fox jumps over the lazy dog; 42 times. '],
    ['beginnings', 'fileid:/'],
    ['characters that are not seen', '\u200b'],
    ['beginnings with such characters', 'f\u200b'],
  ])('reads megabytes of %s in a single pass', (_, piece) => {
    const text = `fileid:${piece.repeat(8_000_000 / piece.length)}`
    const usedMs = measureMs(() => {
      expect(runAtOnce(searchStoredFiles([text]))).toBe(false)
    })
    expect(usedMs).toBeLessThan(150)
  })
})
