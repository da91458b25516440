import type { Justification } from '../explain-differences.ts'

const HOSTED = 'A tool that the provider runs itself, and its calls, have no canonical form.'
const GUARDED = 'A text that is marked for a guardrail becomes plain text.'
const SAME_ROLE = 'Messages of one role become one turn, because most models refuse two.'
const NO_SCHEMA = 'Claude 3 takes no schema, so we force it to call a tool with the answer.'
const TEXT =
  'A text document becomes text, which every model reads; a body of this format passes through unchanged.'
const FROM_BUCKET = 'A file in a bucket of the account is refused.'

/** Why recorded Converse requests differ after parsing and encoding. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/messages/*/content/*/toolResult/status', why: 'Success is the default.' },
  {
    path: '/messages/*/content/*/toolResult/content/*/text',
    of: 'test-converse-',
    why: 'A result of a tool becomes canonical text, which means the same.',
  },
  {
    path: '/messages/*/content/*/toolResult/content/*/json',
    of: 'test-converse-',
    why: 'A result of a tool becomes canonical text, which means the same.',
  },
  { path: '/inferenceConfig/stopSequences', why: 'An empty list has no effect.' },
  { path: '/messages/**', of: 'test-guardrail-converse', why: SAME_ROLE },
  { path: '/messages/*/content/*/text', of: 'test-nova-converse', why: GUARDED },
  { path: '/messages/*/content/*/guardContent', of: 'test-nova-converse', why: GUARDED },
  { path: '/messages/*/content/*/text', of: 'test-titan-converse', why: GUARDED },
  { path: '/messages/*/content/*/guardContent', of: 'test-titan-converse', why: GUARDED },
  {
    path: '/messages/0/content/**',
    of: 'test-bedrock-cache-write-and-read',
    why: 'A blank text is left out, because other models refuse it.',
  },
  { path: '/toolConfig/tools/1', of: 'code-execution-tool', why: HOSTED },
  { path: '/messages/1/content/**', of: 'code-execution-tool', why: HOSTED },
  { path: '/outputConfig', of: 'bedrock-converse-', why: NO_SCHEMA },
  { path: '/toolConfig', of: 'bedrock-converse-', why: NO_SCHEMA },
  {
    path: '/outputConfig/textFormat/structure/jsonSchema/schema/properties/title/*',
    of: 'native-output-profile-default',
    why: 'Claude refuses most bounds in a schema, so all of them go to the description.',
  },
  { path: '/messages/2/content/0/toolResult/content/**', of: 'direct-uploaded-file', why: FROM_BUCKET },
  { path: '/messages/*/content/**', of: 'document', why: TEXT },
]
