import { describe, expect, test } from 'vitest'
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
