import type { ContentPart } from '@rideau/llm/request/message'
import { expect, test } from 'vitest'
import { countPackedFiles } from './packed-files.ts'

const count = (...parts: ContentPart[]): number =>
  countPackedFiles({ model: 'm', stream: false, messages: [{ role: 'user', content: parts }] } as never)

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const file = (mediaType: string, bytes: string): ContentPart => ({
  type: 'file',
  file: { file_data: `data:${mediaType};base64,${base64(bytes)}` },
})
const PDF = '%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>'

test.each<[string, ContentPart]>([
  ['a PDF', file('application/pdf', PDF)],
  ['a PDF that is said to be text', file('text/plain', PDF)],
  ['a PDF behind other text', file('text/plain', `${'a'.repeat(2_000)}${PDF}`)],
  [
    'a PDF in the place of an image',
    { type: 'image_url', image_url: { url: `data:application/pdf;base64,${base64(PDF)}` } },
  ],
  [
    'a Word document',
    file('application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'PK\x03\x04'),
  ],
  ['a spreadsheet that is said to be text', file('text/csv', 'PK\x03\x04')],
  ['data without a media type', { type: 'file', file: { file_data: base64(PDF) } }],
  [
    'data that other decoders read otherwise',
    { type: 'file', file: { file_data: `data:text/plain;base64,=${base64(PDF)}` } },
  ],
  ['data that is not base64', { type: 'file', file: { file_data: 'data:text/plain,%25PDF-1.7' } }],
  ['a text too long to read', file('text/plain', 'a'.repeat(1_000_000))],
])('%s counts as of any length', (_what, part) => {
  expect(count({ type: 'text', text: 'hi' }, part)).toBe(Number.POSITIVE_INFINITY)
})

test.each<[string, ContentPart]>([
  ['plain text', file('text/plain', 'Grüße,\tDu\r\n')],
  ['a table', file('text/csv', 'a,b\n1,2\n')],
  ['an image', { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
  ['audio', { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
  ['audio as a file', file('audio/mpeg', 'ID3\x04')],
  ['a file by its address, which find-unmeasured.ts finds', { type: 'file', file: { file_url: 'a' } }],
])('%s counts by its bytes', (_what, part) => {
  expect(count(part)).toBe(0)
})
