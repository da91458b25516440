import type { Justification } from '../explain-differences.ts'

const NO_SUCH_PART = 'The canonical request has no such part.'
const HOSTED = 'A tool that the provider runs itself has no canonical form.'
const SAME_ROLE = 'Messages of one role become one turn, because most models refuse two.'
const TEXT = 'A result of a tool becomes canonical text, which means the same.'
const NO_SCHEMA = 'Claude 3 takes no schema, so we force it to call a tool with the answer.'
const FROM_BUCKET = 'A file in a bucket of the account: the canonical request has bytes only.'

/** Why the gateway's requests to Converse differ from the recorded ones. */
export const JUSTIFIED: readonly Justification[] = [
  {
    path: '/outputConfig/textFormat/structure/jsonSchema/schema/properties/title/*',
    of: 'native-output-profile-default',
    why: 'Claude refuses most bounds in a schema, so all of them go to the description.',
  },
  { path: '/messages/*/content/*/toolResult/status', why: 'Success is the default.' },
  { path: '/messages/*/content/*/toolResult/content/*/text', of: 'test-converse-', why: TEXT },
  { path: '/messages/*/content/*/toolResult/content/*/json', of: 'test-converse-', why: TEXT },
  { path: '/inferenceConfig/stopSequences', why: 'An empty list has no effect.' },
  { path: '/messages/**', of: 'test-guardrail-converse', why: SAME_ROLE },
  { path: '/messages/**', of: 'test-nova-converse', why: NO_SUCH_PART },
  { path: '/messages/**', of: 'test-titan-converse', why: NO_SUCH_PART },
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
    why: 'The canonical request has an effort, which this recording does not.',
  },
]
