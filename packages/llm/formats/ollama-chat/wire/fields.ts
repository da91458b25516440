import type { Json } from '../../../json/json-value.ts'
import { CAP, DATA, forKeys, MODEL, type Rule, SCALAR, STREAM } from '../../../upstream/outgoing-rules.ts'
import { flagAt, numberAt, textAt, textsAt } from '../../shared/reading/read-fields.ts'
import { TOOLS } from '../../shared/requests/chat-rules.ts'
import {
  checked,
  type Field,
  FieldTable,
  formatSpecific,
  nested,
  number,
  own,
  sent,
} from '../../shared/requests/field-table.ts'
import { MESSAGES } from './message-rules.ts'

/** The fields of `POST /api/chat`, as docs/api.md of the project ollama/ollama describes them. */

/** Options that other providers have as parameters. */
const PARAMETERS: Readonly<Record<string, Field>> = {
  num_predict: sent(CAP, checked('maxOutputTokens', readCap)),
  temperature: number('temperature'),
  top_p: number('topP'),
  seed: number('seed', { integer: true }),
  stop: checked('stop', readStop),
  presence_penalty: number('presencePenalty'),
  frequency_penalty: number('frequencyPenalty'),
}

/** How a token is chosen. Each value asks for nothing. */
const SAMPLING: Readonly<Record<string, Field>> = {
  top_k: sent(
    SCALAR,
    formatSpecific(value => value === 0),
  ),
  min_p: sent(
    SCALAR,
    formatSpecific(value => value === 0),
  ),
  typical_p: sent(
    SCALAR,
    formatSpecific(value => value === 1),
  ),
  tfs_z: sent(
    SCALAR,
    formatSpecific(value => value === 1),
  ),
  repeat_last_n: sent(
    SCALAR,
    formatSpecific(value => value === 0),
  ),
  repeat_penalty: sent(
    SCALAR,
    formatSpecific(value => value === 1),
  ),
  mirostat: sent(
    SCALAR,
    formatSpecific(value => value === 0),
  ),
  mirostat_eta: sent(
    SCALAR,
    formatSpecific(value => value === 0),
  ),
  mirostat_tau: sent(
    SCALAR,
    formatSpecific(value => value === 0),
  ),
  penalize_newline: sent(
    SCALAR,
    formatSpecific(value => value === false),
  ),
}

const KEYS_ONLY: Rule = forKeys(SCALAR)
const OF_KEYS = sent(KEYS_ONLY)

/** How an Ollama server runs the model. Other providers lose nothing without it, and an end user may not set it. */
const MACHINE: Readonly<Record<string, Field>> = {
  num_ctx: OF_KEYS,
  num_keep: OF_KEYS,
  num_batch: OF_KEYS,
  num_gpu: OF_KEYS,
  main_gpu: OF_KEYS,
  low_vram: OF_KEYS,
  vocab_only: OF_KEYS,
  use_mmap: OF_KEYS,
  use_mlock: OF_KEYS,
  num_thread: OF_KEYS,
  numa: OF_KEYS,
  f16_kv: OF_KEYS,
  logits_all: OF_KEYS,
  embedding_only: OF_KEYS,
}

/** The fields of `options`. */
export const OPTIONS = new FieldTable({ ...PARAMETERS, ...SAMPLING, ...MACHINE })

/** What an Ollama server gets as it is. An end user may not send it. */
const PASSED: Readonly<Record<string, Field>> = {
  keep_alive: OF_KEYS,
  truncate: sent(KEYS_ONLY, { read: flagAt }),
  shift: sent(KEYS_ONLY, { read: flagAt }),
  logprobs: sent(
    KEYS_ONLY,
    formatSpecific(value => value === false, flagAt),
  ),
  top_logprobs: sent(KEYS_ONLY, formatSpecific(isNone, numberAt)),
}

export const FIELDS = new FieldTable({
  model: sent(MODEL, own('model')),
  messages: sent(MESSAGES, own('messages')),
  stream: sent(STREAM, own('stream')),
  // There is no field for a choice of tools: if none may be called, none is sent.
  tools: sent(TOOLS, own('tools', 'toolChoice')),
  format: sent(DATA, own('responseFormat')),
  think: sent(SCALAR, own('reasoningEffort')),
  options: nested(OPTIONS),
  ...PASSED,
})

/** Returns true if a target of this format gets the field as it is. The format has more words for thinking than the canonical request. */
export function isPassed(name: string): boolean {
  return name === 'think' || Object.hasOwn(PASSED, name)
}

export function isPassedOption(name: string): boolean {
  return Object.hasOwn(SAMPLING, name) || Object.hasOwn(MACHINE, name)
}

/** 0 and less ask for as much as the model gives. */
function readCap(value: Json, path: string): number | undefined {
  const cap = numberAt(value, path, { integer: true })
  return cap > 0 ? cap : undefined
}

/** A text or several; an empty list asks for nothing. */
function readStop(value: Json, path: string): readonly string[] | undefined {
  const texts = Array.isArray(value) ? textsAt(value, path) : [textAt(value, path)]
  return texts.length === 0 ? undefined : texts
}

function isNone(value: Json): boolean {
  return typeof value === 'number' && value <= 0
}
