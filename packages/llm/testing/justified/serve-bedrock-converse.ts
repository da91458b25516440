import type { Justification } from '../explain-differences.ts'

const HOSTED = 'A tool that the provider runs itself: the gateway offers none, so its calls are nobody’s.'
const GUARDED = 'What is marked for a guardrail is text to everybody else.'
const SAME_ROLE = 'Messages of one role are one turn: most models refuse two.'
const NO_SCHEMA = 'Claude 3 keeps no schema: a tool that it must call asks for the answer instead.'
const TEXT =
  'A document of text is told as text, which every model reads; a body of this format passes through whole.'
const FROM_BUCKET = 'A file in a bucket of the owner’s: the surface refuses it.'

/** Why a recorded Converse request, decoded by us and encoded again, is not word for word the same. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/messages/*/content/*/toolResult/status', why: 'Success is what is meant without it.' },
  {
    path: '/messages/*/content/*/toolResult/content/*/text',
    of: 'test-converse-',
    why: 'A result of a tool is text in the canonical request; models read both alike.',
  },
  {
    path: '/messages/*/content/*/toolResult/content/*/json',
    of: 'test-converse-',
    why: 'A result of a tool is text in the canonical request; models read both alike.',
  },
  { path: '/inferenceConfig/stopSequences', why: 'An empty list says nothing.' },
  { path: '/messages/**', of: 'test-guardrail-converse', why: SAME_ROLE },
  { path: '/messages/*/content/*/text', of: 'test-nova-converse', why: GUARDED },
  { path: '/messages/*/content/*/guardContent', of: 'test-nova-converse', why: GUARDED },
  { path: '/messages/*/content/*/text', of: 'test-titan-converse', why: GUARDED },
  { path: '/messages/*/content/*/guardContent', of: 'test-titan-converse', why: GUARDED },
  {
    path: '/messages/0/content/**',
    of: 'test-bedrock-cache-write-and-read',
    why: 'A blank text is left out: other models refuse it.',
  },
  { path: '/toolConfig/tools/1', of: 'code-execution-tool', why: HOSTED },
  { path: '/messages/1/content/**', of: 'code-execution-tool', why: HOSTED },
  { path: '/outputConfig', of: 'bedrock-converse-', why: NO_SCHEMA },
  { path: '/toolConfig', of: 'bedrock-converse-', why: NO_SCHEMA },
  {
    path: '/outputConfig/textFormat/structure/jsonSchema/schema/properties/title/*',
    of: 'native-output-profile-default',
    why: 'Claude refuses most bounds in a schema, so all of them are told in words; it keeps this one either way.',
  },
  { path: '/messages/2/content/0/toolResult/content/**', of: 'direct-uploaded-file', why: FROM_BUCKET },
  { path: '/messages/*/content/**', of: 'document', why: TEXT },
]
