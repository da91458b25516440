import type { Json } from '../../../json/json-value.ts'
import {
  CAP,
  CHOICES,
  DATA,
  forKeys,
  REFUSED,
  SCALAR,
  STORED,
  toListRule,
  toObjectRule,
} from '../../../upstream/outgoing-rules.ts'
import {
  extra,
  type Field,
  FieldTable,
  formatSpecific,
  nested,
  number,
  own,
  sent,
  texts,
} from '../../shared/requests/field-table.ts'
import { isEmptyRecord } from '../../shared/requests/harmless-params.ts'
import { CONTENT, CONTENTS, TEXT_ALONE, THINKING, TOOL_CONFIG, TOOLS, USUAL_TIER } from './content-rules.ts'
import { toSnake } from './spell-camel.ts'

const FORMATS: readonly Json[] = ['text/plain', 'application/json']

const isOff = (value: Json): boolean => value === false

/** The provider takes each field in two spellings. */
const BOTH = { respell: toSnake }

/** A field that only this format knows. It loosens a filter or costs more, so a client token may not send it. */
const ofKeys = (): Field => sent(forKeys(SCALAR), formatSpecific(isOff))

export const SAFETY_SETTINGS = toListRule(
  toObjectRule({ category: SCALAR, threshold: SCALAR, method: SCALAR }, 'reserved'),
)

/** The fields of `generationConfig`. Source: docs/providers.md, "Gemini". */
export const CONFIG_FIELDS = new FieldTable(
  {
    maxOutputTokens: sent(CAP, number('maxOutputTokens', { min: 1, integer: true })),
    temperature: number('temperature'),
    topP: number('topP'),
    seed: number('seed', { integer: true }),
    presencePenalty: number('presencePenalty'),
    frequencyPenalty: number('frequencyPenalty'),
    stopSequences: withoutEmpty(texts('stop')),
    responseMimeType: sent(SCALAR, {
      ...own('responseFormat'),
      isFormatSpecific: value => !FORMATS.includes(value),
    }),
    responseSchema: sent(DATA),
    responseJsonSchema: sent(DATA),
    thinkingConfig: sent(THINKING, own('reasoningEffort')),
    candidateCount: sent(CHOICES, {
      ...extra('n'),
      write: value => (typeof value === 'number' && value > 1 ? value : undefined),
    }),
    responseModalities: sent(TEXT_ALONE),
    topK: sent(SCALAR, {
      ...extra('top_k', formatSpecific(isOff)),
      write: value => (typeof value === 'number' ? value : undefined),
    }),
    mediaResolution: ofKeys(),
    responseLogprobs: ofKeys(),
    logprobs: ofKeys(),
    audioTimestamp: ofKeys(),
    enableEnhancedCivicAnswers: ofKeys(),
  },
  BOTH,
)

/**
 * The fields of `:generateContent`, in the first of their two spellings. A client token may not loosen filters, label the
 * account's bill or reach what the provider keeps.
 */
export const FIELDS = new FieldTable(
  {
    // The path names it.
    model: sent(REFUSED, own('model')),
    contents: sent(CONTENTS, own('messages')),
    systemInstruction: sent(CONTENT),
    tools: sent(TOOLS, own('tools')),
    toolConfig: sent(TOOL_CONFIG, own('toolChoice')),
    generationConfig: nested(CONFIG_FIELDS),
    safetySettings: sent(forKeys(SAFETY_SETTINGS)),
    cachedContent: sent(forKeys(STORED)),
    // Kept with the log.
    labels: sent(forKeys(DATA), formatSpecific(isEmptyRecord)),
    serviceTier: sent(forKeys(USUAL_TIER)),
  },
  BOTH,
)

function withoutEmpty(field: Field): Field {
  return { ...field, write: value => (Array.isArray(value) && value.length === 0 ? undefined : value) }
}
