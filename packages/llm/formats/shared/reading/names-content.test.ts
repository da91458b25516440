import { describe, expect, test } from 'vitest'
import { namesUnreadContent } from './names-content.ts'

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
    expect(namesUnreadContent(part)).toBe(false)
  })

  test.each([
    { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
    { type: 'input_file', file_url: 'https://a.example/a.pdf' },
    { type: 'custom_call_output', output: [{ type: 'input_file', file_url: 'https://a.example/a.pdf' }] },
    { type: 'custom_call_output', output: [{ type: 'input_file', file_id: 'file-1' }] },
    { type: 'container_upload', file_id: 'file-1' },
    { type: 5, url: 'gs://bucket/a' },
  ])('is true for content that is not in the body: %j', part => {
    expect(namesUnreadContent(part)).toBe(true)
  })
})
