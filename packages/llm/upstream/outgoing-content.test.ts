import { describe, expect, test } from 'vitest'
import { FIELDS as ANTHROPIC } from '../formats/anthropic-messages/wire/fields.ts'
import { FIELDS as CONVERSE } from '../formats/bedrock-converse/wire/fields.ts'
import { FIELDS as COHERE } from '../formats/cohere-v2/wire/fields.ts'
import { FIELDS as CHAT } from '../formats/openai-chat/wire/fields.ts'
import { FIELDS as RESPONSES } from '../formats/openai-responses/wire/fields.ts'
import type { Json, JsonObject } from '../json/json-value.ts'
import { findUnsendable, TOKEN_SENDERS } from '../testing/outgoing/find-unsendable.ts'
import type { FieldRules } from './outgoing-rules.ts'

/** Content of end users leaves, whatever its texts look like and its data is called: only references of a provider do not. */

const assistant = (fields: JsonObject): JsonObject => ({ messages: [{ role: 'assistant', ...fields }] })
const input = (...items: Json[]): JsonObject => ({ input: items })
const output = (fields: JsonObject): JsonObject =>
  input({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x', ...fields }] })

/** Names that a provider has for what it stores, where they are the caller's own. */
const DATA: JsonObject = {
  ...{ document_id: 'd', database_id: 'd', file_id: 'f', store: 'Berlin', thread: 'a', session_id: 's' },
  ...{ file: 'file_utils.py', files: ['file-handler.ts'], container: 'box', memory_id: 1, conversation: [] },
}
const TEXTS: readonly string[] = [
  ...['{name: x}', "{'a': 1}", '[{"a":1},]', '{"file_id":"f"}', '//go:build linux', 'file:a.c', '[]'],
  ...['{"a":NaN}', '{"a":1,"a":2}', 'http://10.0.0.1/'],
]

type Place = readonly [name: string, rules: FieldRules, put: (value: Json) => JsonObject]

const DATA_PLACES: readonly Place[] = [
  ['a document of Cohere', COHERE.rules, data => ({ documents: [{ id: 'd', data }] })],
  [
    'a document in a result for Cohere',
    COHERE.rules,
    data => ({ messages: [{ role: 'tool', content: [{ type: 'document', document: { data } }] }] }),
  ],
  [
    'a citation of Cohere',
    COHERE.rules,
    document =>
      assistant({ content: 'x', citations: [{ text: 'x', sources: [{ type: 'document', document }] }] }),
  ],
  ['a parsed answer', CHAT.rules, parsed => assistant({ content: 'x', parsed })],
  ['a parsed answer of Responses', RESPONSES.rules, parsed => output({ parsed })],
]

const TEXT_PLACES: readonly Place[] = [
  ...DATA_PLACES.map(
    ([name, rules, put]): Place => [name, rules, text => put({ text, list: [text], file: text })],
  ),
  ['a document that is a text', COHERE.rules, text => ({ documents: [text] })],
  [
    'a citation of Claude',
    ANTHROPIC.rules,
    text =>
      assistant({
        content: [
          {
            type: 'text',
            text: 'x',
            citations: [{ type: 'char_location', cited_text: text, file_id: null }],
          },
        ],
      }),
  ],
  [
    'a citation of Converse',
    CONVERSE.rules,
    text =>
      assistant({
        content: [{ citationsContent: { citations: [{ location: { web: { domain: text } } }] } }],
      }),
  ],
  [
    'an annotation',
    CHAT.rules,
    text =>
      assistant({
        content: 'x',
        annotations: [{ type: 'url_citation', url_citation: { title: text, url: text } }],
      }),
  ],
  [
    'an annotation of Responses',
    RESPONSES.rules,
    text => output({ annotations: [{ type: 'url_citation', url: text }] }),
  ],
]

/** What tools that a provider ran left in a conversation, which tokens may send that pass fields through. */
const HISTORY_PLACES: readonly Place[] = [
  [
    'the output of code',
    ANTHROPIC.rules,
    stdout =>
      assistant({
        content: [{ type: 'bash_code_execution_tool_result', content: { stdout, stderr: stdout } }],
      }),
  ],
  [
    'a file that was viewed',
    ANTHROPIC.rules,
    content =>
      assistant({
        content: [{ type: 'text_editor_code_execution_tool_result', content: { content, lines: [content] } }],
      }),
  ],
  [
    'the input of a tool',
    ANTHROPIC.rules,
    code => assistant({ content: [{ type: 'server_tool_use', input: { file_text: code, store: code } }] }),
  ],
  [
    'code',
    RESPONSES.rules,
    code => input({ type: 'code_interpreter_call', code, outputs: [{ type: 'logs', logs: code }] }),
  ],
  [
    'a change of a file',
    RESPONSES.rules,
    diff => input({ type: 'apply_patch_call', operation: { path: 'a', diff } }),
  ],
  [
    'arguments of a tool',
    RESPONSES.rules,
    text => input({ type: 'mcp_call', arguments: text, output: text }),
  ],
  [
    'the output of a shell',
    RESPONSES.rules,
    text => input({ type: 'shell_call_output', call_id: 'c', output: [{ stdout: text, stderr: text }] }),
  ],
  [
    'a page that was opened',
    RESPONSES.rules,
    url => input({ type: 'web_search_call', action: { type: 'open_page', url } }),
  ],
  ['a field of a message', CHAT.rules, text => assistant({ content: 'x', novelty: { text } })],
]

describe('a client token', () => {
  test.each(DATA_PLACES)('may call its own data as it likes: %s', (_, rules, put) => {
    for (const sender of TOKEN_SENDERS) expect(findUnsendable(rules, put(DATA), { sender })).toBeUndefined()
  })

  test.each(TEXT_PLACES)('may send back any text: %s', (_, rules, put) => {
    for (const text of TEXTS) {
      for (const sender of TOKEN_SENDERS)
        expect([text, findUnsendable(rules, put(text), { sender })]).toEqual([text, undefined])
    }
  })

  test.each(HISTORY_PLACES)('that passes fields through may send back any text: %s', (_, rules, put) => {
    for (const text of TEXTS) {
      expect([text, findUnsendable(rules, put(text), { sender: 'trusted_end_user' })]).toEqual([
        text,
        undefined,
      ])
    }
  })
})

const CITATIONS: readonly (readonly [string, FieldRules, JsonObject])[] = [
  [
    'messages[0].content[0].citations[0].file_id',
    ANTHROPIC.rules,
    assistant({
      content: [{ type: 'text', text: 'x', citations: [{ type: 'char_location', file_id: 'f' }] }],
    }),
  ],
  [
    'messages[0].annotations[0].file_citation.file_id',
    CHAT.rules,
    assistant({ content: 'x', annotations: [{ type: 'file_citation', file_citation: { file_id: 'f' } }] }),
  ],
  [
    'messages[0].annotations[0].file.file_id',
    CHAT.rules,
    assistant({ content: 'x', annotations: [{ type: 'file', file: { file_id: 'f' } }] }),
  ],
  [
    'messages[0].annotations[0].file.content[0].image_url.url',
    CHAT.rules,
    assistant({
      content: 'x',
      annotations: [
        {
          type: 'file',
          file: { hash: 'h', content: [{ type: 'image_url', image_url: { url: 'http://10.0.0.1' } }] },
        },
      ],
    }),
  ],
  [
    'messages[0].annotations[0].file.content[0].image_url',
    CHAT.rules,
    assistant({
      content: 'x',
      annotations: [{ type: 'novel', file: { content: [{ image_url: 'https://a.example/a.png' }] } }],
    }),
  ],
  [
    'input[0].content[0].annotations[0].container_id',
    RESPONSES.rules,
    output({ annotations: [{ type: 'container_file_citation', container_id: 'c' }] }),
  ],
  [
    'messages[0].tool_calls[0].extra_content.google.cached_content',
    CHAT.rules,
    assistant({
      content: 'x',
      tool_calls: [{ id: 'c', extra_content: { google: { cached_content: 'c' } } }],
    }),
  ],
]

test.each(CITATIONS)('a client token may name no stored file beside an answer: %s', (path, rules, body) => {
  for (const sender of TOKEN_SENDERS) expect(findUnsendable(rules, body, { sender })).toBe(path)
  expect(findUnsendable(rules, body, { sender: 'key' })).toBeUndefined()
})

/** Content that the gateway does not read, which tokens may send that pass fields through. */
const UNREAD_PLACES: readonly (readonly [string, FieldRules, (fields: JsonObject) => JsonObject])[] = [
  [
    'a part',
    CHAT.rules,
    fields => ({ messages: [{ role: 'user', content: [{ type: 'novel', ...fields }] }] }),
  ],
  ['a text', CHAT.rules, fields => assistant({ content: [{ type: 'text', text: 'x', novelty: fields }] })],
  ['a message', CHAT.rules, novelty => assistant({ content: 'x', novelty })],
  [
    'a file of OpenRouter',
    CHAT.rules,
    file => assistant({ content: 'x', annotations: [{ type: 'file', file }] }),
  ],
  ['an item', RESPONSES.rules, fields => input({ type: 'novel', content: [fields] })],
  [
    'a screenshot',
    RESPONSES.rules,
    fields => input({ type: 'computer_call_output', call_id: 'c', output: fields }),
  ],
  [
    'code that ran',
    RESPONSES.rules,
    fields => input({ type: 'code_interpreter_call', code: 'x', ...fields }),
  ],
  ['a block', ANTHROPIC.rules, fields => assistant({ content: [{ type: 'novel', ...fields }] })],
  [
    'a call',
    ANTHROPIC.rules,
    fields => assistant({ content: [{ type: 'server_tool_use', input: {}, ...fields }] }),
  ],
  [
    'a source',
    ANTHROPIC.rules,
    fields => assistant({ content: [{ type: 'document', source: { type: 'novel', ...fields } }] }),
  ],
  ['a block of Converse', CONVERSE.rules, novelty => assistant({ content: [{ novelty }] })],
  ['a part of Cohere', COHERE.rules, fields => assistant({ content: [{ type: 'novel', ...fields }] })],
]

test.each(UNREAD_PLACES)('content that is not read reaches nothing: %s', (_, rules, put) => {
  for (const fields of [
    ...[
      { file_id: 'f' },
      { a: [{ FileIds: ['f'] }] },
      { container_id: 'c' },
      { store: true },
      { vector_store_ids: ['v'] },
    ],
    ...[
      { s3Location: { uri: 's3://b/k' } },
      { cachedContent: 'c' },
      { files: ['file-6F2ksmvXxt4VdoqmHRw6kL'] },
    ],
    ...[
      { image_url: { url: 'http://10.0.0.1/' } },
      { video: ['http://10.0.0.1/'] },
      { url: 'http://10.0.0.1/' },
    ],
    ...[{ image: 'file:///etc/passwd' }, { data: '//10.0.0.1/a' }, { fileUri: 'gs://bucket/a' }],
    ...[
      { tool: { type: 'web_search' } },
      { tools: [{ type: 'mcp', server_url: 'https://a.example' }] },
      { mcp_servers: [{}] },
    ],
    { a: { type: 'code_interpreter' } },
  ] satisfies JsonObject[]) {
    for (const sender of TOKEN_SENDERS)
      expect([fields, findUnsendable(rules, put(fields), { sender })]).toEqual([fields, expect.any(String)])
  }
})
