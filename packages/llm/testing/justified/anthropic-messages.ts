import type { Justification } from '../explain-differences.ts'

const HOSTED =
  'A tool that the provider runs itself, or that only its models are trained for, has no canonical form.'
const RUN_BY_CALLER =
  'A tool that the caller runs becomes a function of its documented input; a caller of this format gets it passed on as it came.'
const REPLAYED = 'Blocks that such a tool left in the conversation have no canonical form.'
const UPLOADED = 'The id of a file in the provider’s store has no canonical form.'
const ONE_TEXT = 'Texts next to each other become one canonical text, which means the same.'
const AS_TEXT = 'A text document becomes canonical text, because few other formats take it as a file.'
const NAMED = 'A canonical file has a name, because other providers refuse one without.'
const DEFAULT = 'The default.'
const EFFORT_THINKS = 'With an effort we also send `thinking`, so that the answer shows the reasoning.'
const MAX = 'The format demands a cap; without one in the request we send the model’s.'
const OTHER_SETTINGS = 'The recording under this name has another request.'
const NO_MARK = 'A canonical call has no mark of caching; parts, results and tools have one.'
const LATE = 'Loading a tool later is a feature of a tool that the provider runs.'

/** Why the gateway's Messages requests differ from the recorded ones. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/stream', why: 'False is the default, and some recorders left it to the client library.' },
  { path: '/tool_choice/disable_parallel_tool_use', why: DEFAULT },
  { path: '/tool_choice', of: 'canonical parallelToolCalls', why: DEFAULT },
  { path: '/messages/*/content/*/is_error', why: DEFAULT },
  { path: '/system', of: 'testtokencounts', why: 'A blank text has no effect.' },
  { path: '/messages/1/content/1/caller', of: '863102f0', why: DEFAULT },
  { path: '/messages/1/content/*/cache_control', of: 'streaming-', why: NO_MARK },
  { path: '/messages/1/content/*/cache_control', of: 'thinking-2bb48c', why: NO_MARK },
  { path: '/messages/1/content/*/cache_control', of: 'multi-tool-48273b', why: NO_MARK },
  // Efforts and thinking.
  { path: '/thinking', of: 'reasoningeffortlow', why: EFFORT_THINKS },
  { path: '/thinking', of: 'claude-agent-sdk', why: EFFORT_THINKS },
  {
    path: '/temperature',
    of: 'claude-agent-sdk',
    why: '1 is the default, and a model that thinks takes no other value.',
  },
  { path: '/output_config', of: 'outputformatjsonschema', why: 'The newer place of output_format.' },
  { path: '/output_format', of: 'outputformatjsonschema', why: 'See output_config.' },
  // Texts and files.
  { path: '/messages/*/content/**', of: 'claude-agent-sdk', why: ONE_TEXT },
  { path: '/messages/0/content/**', of: 'multi-system-prompt', why: ONE_TEXT },
  { path: '/messages/0/content/**', of: 'cites-text-documents', why: AS_TEXT },
  { path: '/messages/0/content/**', of: 'documentcontentparam', why: AS_TEXT },
  { path: '/messages/2/content/0/content/0/**', of: 'text-plain-document', why: AS_TEXT },
  { path: '/messages/0/content/1/title', of: 'anthropic-pdfs', why: NAMED },
  { path: '/messages/0/content/2/title', of: 'array-of-mixed-f', why: NAMED },
  { path: '/messages/2/content/0/content/1/title', of: 'reads-pdfs', why: NAMED },
  { path: '/messages/0/content/1', of: 'code-execution-files', why: UPLOADED },
  { path: '/messages/2/content/0/content', of: 'direct-uploaded-file', why: UPLOADED },
  { path: '/messages/2/content/1', of: 'content-uploaded-file', why: UPLOADED },
  // Hosted tools.
  { path: '/tools', why: HOSTED },
  { path: '/tool_choice', of: 'anthropic/messages', why: HOSTED },
  { path: '/tools/*', of: 'tool-search', why: HOSTED },
  { path: '/tools/*', of: 'native-search', why: HOSTED },
  { path: '/tools/**', of: 'responsestoolsearchinput', why: HOSTED },
  { path: '/tools/*/*', of: 'codeinterpretertoolparam', why: RUN_BY_CALLER },
  { path: '/tools/*/*', of: 'texteditortool', why: RUN_BY_CALLER },
  { path: '/tools/*/defer_loading', why: LATE },
  { path: '/tools/*/type', of: 'native-tool-search', why: 'Custom is the default type of a tool.' },
  { path: '/messages/2/content/0/content/0/**', of: 'r3-t2-native-search', why: LATE },
  { path: '/messages/1/content/**', of: 'code-execution', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'web-search', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'web-fetch', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'advisor-tool-message-replay', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'mcp-servers', why: REPLAYED },
  // Requests that were recorded at several providers.
  { path: '/max_tokens', of: 'canonical', why: MAX },
  { path: '/messages/0/content/0/text', of: 'canonical stopSequences', why: OTHER_SETTINGS },
  { path: '/messages/0/content/0/text', of: 'canonical chatCompletionsAnthropicCache', why: OTHER_SETTINGS },
  {
    path: '/messages/1/content/*/id',
    of: 'canonical parallelToolCalls',
    why: 'Each provider makes ids of its own form.',
  },
  {
    path: '/messages/2/content/*/tool_use_id',
    of: 'canonical parallelToolCalls',
    why: 'See the calls’ ids.',
  },
  { path: '/tools/0/input_schema/additionalProperties', of: 'canonical toolChoice', why: OTHER_SETTINGS },
  {
    path: '/thinking',
    of: 'canonical simpleRequest',
    why: 'The canonical request has an effort, which this recording does not.',
  },
]
