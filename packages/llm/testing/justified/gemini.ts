import type { Justification } from '../explain-differences.ts'

const HOSTED = 'Tools that the provider runs itself: the gateway offers none.'
const NO_PARAMETERS = 'A function without parameters has no schema: the older field refuses an empty one.'
const NO_ID = 'The call has an id: its result may name it too.'
const UPLOADED =
  'A file that its owner uploaded there: its type is known there, and its address ends in nothing.'
const AS_DEFAULT = 'What is done without it.'
const NO_SUCH_FIELD = 'The canonical request has no such field: nobody can send it through us.'
const BESIDE = 'Images of a result stand beside it, where older models look for them too.'
const SPELLING = 'JSON Schema spells types in small letters; both are read.'
const BY_ID = 'The canonical calls have ids; the recorder left them out.'
const OTHER_SETTINGS = 'The recorder put another request under this name.'

/** Why what the gateway sends to Gemini differs from what it was recorded to take. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/systemInstruction/role', why: 'An instruction has no role.' },
  { path: '/systemInstruction', of: 'google-web-search', why: 'Without a letter it says nothing.' },
  { path: '/generationConfig', why: AS_DEFAULT },
  {
    path: '/toolConfig',
    why: 'AUTO is what is done without it; VALIDATED nobody can ask for; the rest is of hosted tools.',
  },
  { path: '/tools/0/functionDeclarations/*/parametersJsonSchema', why: NO_PARAMETERS },
  { path: '/tools', why: HOSTED },
  { path: '/tools/*/googleSearch', why: HOSTED },
  { path: '/tools/0/functionDeclarations', of: 'test-', why: HOSTED },
  { path: '/tools/1', of: 'test-', why: HOSTED },
  { path: '/contents/1/parts/**', of: 'codeinterpreter', why: HOSTED },
  { path: '/contents/2/parts/0/functionResponse/id', of: 'toolchoicerequiredwithreasoning', why: NO_ID },
  {
    path: '/contents/1/parts/0/thoughtSignature',
    of: 'chat-with-extended-thinking',
    why: 'The signature stood on the thought, which does not go back; the answer carries it.',
  },
  { path: '/generationConfig/responseSchema', why: 'The newer field takes the same schema, and more.' },
  { path: '/generationConfig/responseJsonSchema', why: 'See responseSchema.' },
  { path: '/contents/*/parts/0/functionResponse/parts', why: BESIDE },
  { path: '/contents/*/parts/*/fileData/mimeType', of: 'uploaded', why: UPLOADED },
  { path: '/contents/*/parts/*/fileData/mimeType', of: 'url-audio', why: 'Another name of the same type.' },
  { path: '/contents/0/parts/1/fileData/mimeType', of: 'youtube', why: UPLOADED },
  { path: '/contents/0/parts/1/videoMetadata', of: 'youtube', why: NO_SUCH_FIELD },
  { path: '/generationConfig/responseJsonSchema/additionalProperties', of: 'canonical', why: OTHER_SETTINGS },
  { path: '/generationConfig/temperature', of: 'canonical jsonSchema', why: OTHER_SETTINGS },
  { path: '/generationConfig/maxOutputTokens', of: 'canonical jsonSchema', why: OTHER_SETTINGS },
  { path: '/contents/1/parts/*/functionCall/id', of: 'canonical parallel', why: BY_ID },
  { path: '/contents/2/parts/*/functionResponse/id', of: 'canonical parallel', why: BY_ID },
  { path: '/tools/0/functionDeclarations/0/parametersJsonSchema/type', of: 'canonical', why: SPELLING },
  {
    path: '/tools/0/functionDeclarations/0/parametersJsonSchema/properties/location/type',
    of: 'canonical',
    why: SPELLING,
  },
  {
    path: '/tools/0/functionDeclarations/0/parametersJsonSchema/additionalProperties',
    of: 'canonical',
    why: OTHER_SETTINGS,
  },
  {
    path: '/generationConfig/thinkingConfig/thinkingBudget',
    of: 'canonical reasoningEffort',
    why: 'Low is 1,024 tokens at the OpenAI-format address of the provider itself.',
  },
  {
    path: '/generationConfig/thinkingConfig/includeThoughts',
    of: 'canonical reasoningEffort',
    why: 'Who asks for reasoning is shown it.',
  },
  {
    path: '/generationConfig/thinkingConfig/thinkingLevel',
    of: 'canonical toolChoice',
    why: 'Levels are taken in small letters too.',
  },
]
