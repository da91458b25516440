import type { Justification } from '../explain-differences.ts'

const HOSTED = 'Tools that the provider runs itself go to a provider of the format only.'
const NATIVE = 'Goes to a provider of the format only: others have no word for it.'
const TYPE = 'A canonical part has an address alone, whose end tells its type.'

/** Why a request in Gemini's format loses something, or expresses it differently, in the canonical form. */
export const JUSTIFIED: readonly Justification[] = [
  { path: '/systemInstruction/role', why: 'An instruction has no role.' },
  { path: '/systemInstruction', of: 'google-web-search', why: 'Without a letter it says nothing.' },
  {
    path: '/tools/*/functionDeclarations/*/parametersJsonSchema/**',
    why: 'The older form of a schema, as JSON Schema; a function without parameters has none.',
  },
  { path: '/tools', why: HOSTED },
  { path: '/tools/1', why: HOSTED },
  { path: '/tools/*/googleSearch', why: HOSTED },
  { path: '/toolConfig', why: 'AUTO is what is done without it.' },
  { path: '/safetySettings', why: NATIVE },
  { path: '/cachedContent', why: NATIVE },
  { path: '/labels', why: 'Kept with the log.' },
  {
    path: '/generationConfig',
    why: 'Nothing in it but what is done without it, or what is refused by name.',
  },
  { path: '/generationConfig/topK', why: NATIVE },
  { path: '/generationConfig/responseModalities', why: 'Text is what is given; everything else is refused.' },
  { path: '/generationConfig/candidateCount', why: 'One is what is given; more are refused.' },
  { path: '/generationConfig/responseSchema', why: 'The newer field takes the same schema, and more.' },
  { path: '/generationConfig/responseJsonSchema', why: 'See responseSchema.' },
  {
    path: '/generationConfig/thinkingConfig/**',
    why: 'An effort is a word; whether thoughts are shown is decided where they are.',
  },
  { path: '/contents/*/parts/*/functionResponse/parts', why: 'Images of a result stand beside it.' },
  { path: '/contents/*/parts/*/fileData/mimeType', why: TYPE },
  { path: '/contents/*/parts/*/videoMetadata', why: NATIVE },
  { path: '/contents/*/parts/*/inlineData/data', why: 'In the alphabet of base64 that data URLs have.' },
  {
    path: '/contents/*/parts/*/inlineData/mimeType',
    of: 'force-downl',
    why: 'Another name of the same type.',
  },
  {
    path: '/contents/2/parts/1',
    of: 'multimodal-tool-attachments',
    why: 'Images of a result stand beside it.',
  },
  { path: '/contents/4/parts/1', of: 'direct-uploaded-file', why: 'Images of a result stand beside it.' },
  { path: '/contents/1/parts/**', of: 'codeinterpreter', why: HOSTED },
  { path: '/contents/1/parts/**', of: 'history-from-another', why: 'What was said in pieces is one text.' },
  { path: '/contents/2/parts/0/functionResponse/id', of: 'toolchoicerequired', why: 'Its call has that id.' },
  {
    path: '/contents/1/parts/0/thoughtSignature',
    of: 'chat-with-extended-thinking',
    why: 'The signature stood on the thought, which does not go back; the answer carries it.',
  },
  {
    path: '/toolConfig/functionCallingConfig/allowedFunctionNames',
    why: 'Who may call some functions only is told of those.',
  },
  { path: '/tools/0/functionDeclarations/1', of: 'list-single', why: 'See allowedFunctionNames.' },
  { path: '/tools/0/functionDeclarations', why: 'They stood behind a tool that the provider runs.' },
  { path: '/tools/0/functionDeclarations/*/description', of: 'test-tools', why: 'It was null.' },
]
