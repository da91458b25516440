import type { Justification } from '../explain-differences.ts'

const HOSTED = 'A tool that the provider runs itself or has trained its models for: the gateway offers none.'
const REPLAYED = 'What such a tool did in an earlier turn: the canonical request keeps what the model said.'
const UPLOADED = 'A file that its owner uploaded there: an id in one company’s store means nothing elsewhere.'
const ONE_TEXT = 'Texts with nothing between them are one canonical text: models read both alike.'
const AS_TEXT = 'A text document is text in the canonical request: few others take it as a file.'
const NAMED = 'A file has a name in the canonical request: others refuse one without.'
const DEFAULT = 'What is done without it.'
const EFFORT_THINKS = 'Who names an effort asks for reasoning, and is shown it.'
const MOST = 'Nobody named a cap, which this format demands: all that the model gives.'
const OTHER_SETTINGS = 'The recorder put another request under this name.'
const NO_MARK = 'A canonical call has no mark of the cache: it stands on parts, results and tools.'
const LATE = 'A tool that is looked up before it is loaded: only a hosted tool does that.'

/** Why what we send to a Messages endpoint differs from what it was recorded to take. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/stream', why: 'False says nothing, and some recorders left it to the client library to set.' },
  { path: '/tool_choice/disable_parallel_tool_use', why: DEFAULT },
  { path: '/tool_choice', of: 'canonical parallelToolCalls', why: DEFAULT },
  { path: '/messages/*/content/*/is_error', why: DEFAULT },
  { path: '/system', of: 'testtokencounts', why: 'Without a letter it says nothing.' },
  { path: '/messages/1/content/1/caller', of: '863102f0', why: DEFAULT },
  { path: '/messages/1/content/*/cache_control', of: 'streaming-', why: NO_MARK },
  { path: '/messages/1/content/*/cache_control', of: 'thinking-2bb48c', why: NO_MARK },
  { path: '/messages/1/content/*/cache_control', of: 'multi-tool-48273b', why: NO_MARK },
  // Efforts and thinking.
  { path: '/output_config/effort', of: 'anthropicopus5', why: 'Others have no word for more than high.' },
  { path: '/output_config/effort', of: 'opus-5-features', why: 'Others have no word for more than high.' },
  { path: '/thinking', of: 'reasoningeffortlow', why: EFFORT_THINKS },
  { path: '/thinking', of: 'claude-agent-sdk', why: EFFORT_THINKS },
  {
    path: '/temperature',
    of: 'claude-agent-sdk',
    why: '1 is what is done without it, and a model that thinks takes no other.',
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
  { path: '/tools/*/defer_loading', why: LATE },
  { path: '/tools/*/type', of: 'native-tool-search', why: 'Custom is what a tool is without a type.' },
  { path: '/messages/2/content/0/content/0/**', of: 'r3-t2-native-search', why: LATE },
  { path: '/messages/1/content/**', of: 'code-execution', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'web-search', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'web-fetch', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'advisor-tool-message-replay', why: REPLAYED },
  { path: '/messages/1/content/**', of: 'mcp-servers', why: REPLAYED },
  // What several providers were put.
  { path: '/max_tokens', of: 'canonical', why: MOST },
  { path: '/messages/0/content/0/text', of: 'canonical stopSequences', why: OTHER_SETTINGS },
  { path: '/messages/0/content/0/text', of: 'canonical chatCompletionsAnthropicCache', why: OTHER_SETTINGS },
  {
    path: '/messages/1/content/*/id',
    of: 'canonical parallelToolCalls',
    why: 'Each was given ids in its maker’s fashion.',
  },
  {
    path: '/messages/2/content/*/tool_use_id',
    of: 'canonical parallelToolCalls',
    why: 'See the calls’ ids.',
  },
  { path: '/tools/0/input_schema/additionalProperties', of: 'canonical toolChoice', why: OTHER_SETTINGS },
  { path: '/tools/0/strict', of: 'canonical toolChoice', why: OTHER_SETTINGS },
  {
    path: '/thinking',
    of: 'canonical simpleRequest',
    why: 'The canonical request names an effort, which the recorder left out here.',
  },
]
