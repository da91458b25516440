import type { Json } from '../../../json/json-value.ts'
import {
  extra,
  type Field,
  FieldTable,
  nested,
  number,
  onlyHere,
  own,
  texts,
} from '../../shared/field-table.ts'

const FORMATS: readonly Json[] = ['text/plain', 'application/json']

const isOff = (value: Json): boolean => value === false

/** The fields of `generationConfig`. Source: docs/providers.md, "Gemini". */
export const CONFIG_FIELDS = new FieldTable({
  maxOutputTokens: number('maxOutputTokens', { min: 1, integer: true }),
  temperature: number('temperature'),
  topP: number('topP'),
  seed: number('seed', { integer: true }),
  presencePenalty: number('presencePenalty'),
  frequencyPenalty: number('frequencyPenalty'),
  stopSequences: withoutEmpty(texts('stop')),
  responseMimeType: { ...own('responseFormat'), isOnlyHere: value => !FORMATS.includes(value) },
  responseSchema: own(),
  responseJsonSchema: own(),
  thinkingConfig: own('reasoningEffort'),
  candidateCount: {
    ...extra('n'),
    write: value => (typeof value === 'number' && value > 1 ? value : undefined),
  },
  responseModalities: own(),
  topK: {
    ...extra('top_k', onlyHere(isOff)),
    write: value => (typeof value === 'number' ? value : undefined),
  },
  mediaResolution: onlyHere(isOff),
  responseLogprobs: onlyHere(isOff),
  logprobs: onlyHere(isOff),
  audioTimestamp: onlyHere(isOff),
  enableEnhancedCivicAnswers: onlyHere(isOff),
})

/** The fields of `:generateContent`, in the first of their two spellings. */
export const FIELDS = new FieldTable({
  model: own('model'),
  contents: own('messages'),
  systemInstruction: own(),
  tools: own('tools'),
  toolConfig: own('toolChoice'),
  generationConfig: nested(CONFIG_FIELDS),
  safetySettings: own(),
  cachedContent: own(),
  labels: own(),
  serviceTier: own(),
})

/** Known fields that a client token may not send: they loosen filters, cost more, or reach what the provider keeps. */
export const SECRET_KEY_FIELDS: ReadonlySet<string> = new Set([
  'safetySettings',
  'cachedContent',
  'labels',
  'serviceTier',
])
/** The same of `generationConfig`. */
export const SECRET_KEY_CONFIG_FIELDS: ReadonlySet<string> = new Set([
  'mediaResolution',
  'responseLogprobs',
  'logprobs',
  'audioTimestamp',
  'enableEnhancedCivicAnswers',
])

function withoutEmpty(field: Field): Field {
  return { ...field, write: value => (Array.isArray(value) && value.length === 0 ? undefined : value) }
}
