import type { Justification } from '../explain-differences.ts'

const DEFAULT = 'What is done without it.'
const OTHER_SETTINGS = 'The recorder put another request under this name.'
const OF_THE_ANSWER = 'How the provider keeps and labels its answer: nobody has to send it back.'
const ONLY_EFFORT = 'The canonical request names an effort; how its reasoning is shown is this format’s own.'
const ONLY_HERE = 'A tool that its provider runs, or that only models of this format were taught.'
const FOR_PROVIDER = 'For the records or the cache of this provider alone.'
const STATE = 'Builds on what a provider keeps, which nobody else has.'

/** Why what the gateway sends to a Responses endpoint differs from what it was recorded to take. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/stream', why: 'False says nothing, and some recorders left it to the client library to set.' },
  { path: '/store', why: 'Nothing is kept there: what the next turn needs goes to the caller, encrypted.' },
  { path: '/include', why: 'See store: models that reason are asked for it, whoever the caller is.' },
  { path: '/input/*/content/*/detail', why: DEFAULT },
  { path: '/input/*/content/*/annotations', why: OF_THE_ANSWER },
  { path: '/input/*/content/*/logprobs', why: OF_THE_ANSWER },
  { path: '/input/*/id', why: OF_THE_ANSWER },
  { path: '/input/*/status', why: OF_THE_ANSWER },
  { path: '/input/*/phase', why: OF_THE_ANSWER },
  { path: '/input/*/summary/0', why: 'What a reader was shown; the encrypted reasoning has it all.' },
  {
    path: '/input/0/content/0/prompt_cache_breakpoint',
    of: 'promptcacheoptions',
    why: 'A mark of the cache in this format goes only with what was received in it.',
  },
  {
    path: '/input/**',
    of: 'replay-interleaved',
    why: 'What an assistant said and called without an answer between is one turn: its text goes first.',
  },
  { path: '/input/**', of: 'openai-v2-tool-image', why: 'An answer without a letter says nothing.' },
  { path: '/tools/*/description', why: 'null says what nothing says.' },
  {
    path: '/tools/*/strict',
    why: 'Strictness is the default of this format alone: a canonical tool is strict where it says so.',
  },
  { path: '/reasoning', of: 'context-default', why: DEFAULT },
  { path: '/input/*/content/*/annotations/*', why: OF_THE_ANSWER },
  {
    path: '/tools/*/defer_loading',
    why: 'Elsewhere there is no search of tools: each is known from the start.',
  },
  { path: '/reasoning', of: 'generate-summary', why: ONLY_EFFORT },
  {
    path: '/input/*/output',
    of: 'direct-uploaded-file',
    why: 'The uploaded file was all of it, and is named.',
  },
  // What is named to the caller: refused, or dropped with the header that says so.
  { path: '/named/tools/*', why: ONLY_HERE },
  {
    path: '/named/input/*',
    why: 'What such tools were asked and gave, or what they are: no other format has it.',
  },
  { path: '/named/input/*/output/*/file_id', why: 'Only who keeps the file knows it.' },
  { path: '/named/input/*/content/*/file_id', why: 'Only who keeps the file knows it.' },
  { path: '/named/conversation', why: STATE },
  { path: '/named/reasoning/*', why: ONLY_EFFORT },
  { path: '/named/text/verbosity', why: 'The canonical request has no such field.' },
  { path: '/named/safety_identifier', why: FOR_PROVIDER },
  { path: '/named/prompt_cache_options', why: FOR_PROVIDER },
  { path: '/named/prompt_cache_retention', why: FOR_PROVIDER },
  { path: '/named/truncation', why: 'The canonical request has no such field.' },
  { path: '/named/moderation', why: 'The canonical request has no such field.' },
  // What several providers were put.
  { path: '/input/0/content/0/text', of: 'canonical textFormatJsonObject', why: OTHER_SETTINGS },
  { path: '/input/0/content/0/text', of: 'canonical safetyIdentifier', why: OTHER_SETTINGS },
  {
    path: '/safety_identifier',
    of: 'canonical safetyIdentifier',
    why: 'The canonical request has no such field: it goes along with what was received only.',
  },
  { path: '/reasoning/effort', of: 'canonical simpleRequest', why: OTHER_SETTINGS },
  { path: '/text', of: 'canonical simpleRequest', why: OTHER_SETTINGS },
  { path: '/reasoning', of: 'canonical reasoningRequestTruncated', why: OTHER_SETTINGS },
]
