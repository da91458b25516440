import type { Justification } from '../explain-differences.ts'

const NO_SUCH_PART = 'The canonical request has no such part: nobody can send it through us.'
const HOSTED = 'A tool that the provider runs itself: the gateway offers none.'
const SAME_ROLE = 'Messages of one role are one turn: most models refuse two.'
const TEXT = 'A result of a tool is text in the canonical request; models read both alike.'
const NO_SCHEMA = 'Claude 3 keeps no schema: a tool that it must call asks for the answer instead.'
const FROM_BUCKET = 'A file in a bucket of the owner’s: the canonical request has bytes.'

/** Why what we send to Converse differs from what it was recorded to take. */
export const JUSTIFIED: readonly Justification[] = [
  {
    path: '/outputConfig/textFormat/structure/jsonSchema/schema/properties/title/*',
    of: 'native-output-profile-default',
    why: 'Claude refuses most bounds in a schema, so all of them are told in words; it keeps this one either way.',
  },
  { path: '/messages/*/content/*/toolResult/status', why: 'Success is what is meant without it.' },
  { path: '/messages/*/content/*/toolResult/content/*/text', of: 'test-converse-', why: TEXT },
  { path: '/messages/*/content/*/toolResult/content/*/json', of: 'test-converse-', why: TEXT },
  { path: '/inferenceConfig/stopSequences', why: 'An empty list says nothing.' },
  { path: '/messages/**', of: 'test-guardrail-converse', why: SAME_ROLE },
  { path: '/messages/**', of: 'test-nova-converse', why: NO_SUCH_PART },
  { path: '/messages/**', of: 'test-titan-converse', why: NO_SUCH_PART },
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
    path: '/messages/2/content/0/toolResult/content/0/document/**',
    of: 'direct-uploaded-file',
    why: FROM_BUCKET,
  },
  {
    path: '/messages/2/content/0/toolResult/content/0/image/**',
    of: 'direct-uploaded-file',
    why: FROM_BUCKET,
  },
  {
    path: '/additionalModelRequestFields',
    of: 'canonical simpleRequest',
    why: 'The canonical request names an effort, which the recorder left out here.',
  },
]
