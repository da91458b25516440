import type { Json } from '../../../json/json-value.ts'
import { checked, type Field, FieldTable, nested, number, onlyHere, own } from '../../shared/field-table.ts'
import { flagAt, numberAt, textAt, textsAt } from '../../shared/read-fields.ts'

/** The fields of `POST /api/chat`, as docs/api.md of the project ollama/ollama describes them. */

/** Options that other providers have as parameters. */
const PARAMETERS: Readonly<Record<string, Field>> = {
  num_predict: checked('maxOutputTokens', readCap),
  temperature: number('temperature'),
  top_p: number('topP'),
  seed: number('seed', { integer: true }),
  stop: checked('stop', readStop),
  presence_penalty: number('presencePenalty'),
  frequency_penalty: number('frequencyPenalty'),
}

/** How a token is chosen. Each value asks for nothing. */
const SAMPLING: Readonly<Record<string, Field>> = {
  top_k: onlyHere(value => value === 0),
  min_p: onlyHere(value => value === 0),
  typical_p: onlyHere(value => value === 1),
  tfs_z: onlyHere(value => value === 1),
  repeat_last_n: onlyHere(value => value === 0),
  repeat_penalty: onlyHere(value => value === 1),
  mirostat: onlyHere(value => value === 0),
  mirostat_eta: onlyHere(value => value === 0),
  mirostat_tau: onlyHere(value => value === 0),
  penalize_newline: onlyHere(value => value === false),
}

/** How an Ollama server runs the model. Other providers lose nothing without it, and an end user may not set it. */
const MACHINE: Readonly<Record<string, Field>> = {
  num_ctx: own(),
  num_keep: own(),
  num_batch: own(),
  num_gpu: own(),
  main_gpu: own(),
  low_vram: own(),
  vocab_only: own(),
  use_mmap: own(),
  use_mlock: own(),
  num_thread: own(),
  numa: own(),
  f16_kv: own(),
  logits_all: own(),
  embedding_only: own(),
}

/** The fields of `options`. */
export const OPTIONS = new FieldTable({ ...PARAMETERS, ...SAMPLING, ...MACHINE })

/** What an Ollama server gets as it is. An end user may not send it. */
const PASSED: Readonly<Record<string, Field>> = {
  keep_alive: own(),
  truncate: { read: flagAt },
  shift: { read: flagAt },
  logprobs: onlyHere(value => value === false, flagAt),
  top_logprobs: onlyHere(isNone, numberAt),
}

export const FIELDS = new FieldTable({
  model: own('model'),
  messages: own('messages'),
  stream: own('stream'),
  // There is no field for a choice of tools: if none may be called, none is sent.
  tools: own('tools', 'toolChoice'),
  format: own('responseFormat'),
  think: own('reasoningEffort'),
  options: nested(OPTIONS),
  ...PASSED,
})

/** Does a target of this format get the field as it is? It has more words for thinking than the canonical request. */
export function isPassed(name: string): boolean {
  return name === 'think' || Object.hasOwn(PASSED, name)
}

export function isPassedOption(name: string): boolean {
  return Object.hasOwn(SAMPLING, name) || Object.hasOwn(MACHINE, name)
}

/** May an end user send the field? */
export function isForEndUsers(name: string): boolean {
  return FIELDS.names.has(name) && !Object.hasOwn(PASSED, name)
}

export function isOptionForEndUsers(name: string): boolean {
  return OPTIONS.names.has(name) && !Object.hasOwn(MACHINE, name)
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
