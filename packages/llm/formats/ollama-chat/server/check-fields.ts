import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import type { TargetFindings } from '../../shared/findings.ts'
import {
  invalid,
  listAt,
  objectAt,
  optionalNumber,
  optionalObject,
  optionalText,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedName } from '../../shared/reserved-fields.ts'
import { refuseOtherFields } from '../../shared/tool-fields.ts'
import { toImageUrl } from './decode-messages.ts'

/** Checks of what the gateway relies on in a body of Ollama's chat; the provider judges the rest. */

const ROLES: ReadonlySet<Json | undefined> = new Set(['system', 'user', 'assistant', 'tool'])
const MESSAGE: ReadonlySet<string> = new Set([
  ...['role', 'content', 'images', 'thinking', 'tool_calls', 'tool_name', 'tool_call_id', 'name'],
])

export function checkMessages(body: JsonObject, findings: TargetFindings): void {
  const messages = listAt(body.messages, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (const [i, value] of messages.entries()) {
    const path = `messages[${i}]`
    const message = objectAt(value, path)
    if (!ROLES.has(message.role)) {
      throw invalid(`${path}.role`, 'must be system, user, assistant or tool.')
    }
    for (const name of ['content', 'thinking', 'tool_name', 'tool_call_id', 'name'])
      optionalText(message, name, `${path}.${name}`)
    checkImages(message, `${path}.images`)
    checkCalls(message, `${path}.tool_calls`)
    for (const [name, given] of Object.entries(message)) {
      if (!MESSAGE.has(name) && given !== null) findings.unread.push(`${path}.${name}`)
    }
  }
}

function checkImages({ images }: JsonObject, path: string): void {
  if (images === undefined || images === null) return
  for (const [i, image] of listAt(images, path).entries()) {
    if (toImageUrl(textAt(image, `${path}[${i}]`)) !== undefined) continue
    throw invalid(`${path}[${i}]`, 'must be a PNG, JPEG, GIF or WebP image in base64.')
  }
}

function checkCalls({ tool_calls: calls }: JsonObject, path: string): void {
  if (calls === undefined || calls === null) return
  for (const [i, value] of listAt(calls, path).entries()) {
    const at = `${path}[${i}]`
    const call = objectAt(value, at)
    optionalText(call, 'id', `${at}.id`)
    const fn = objectAt(call.function, `${at}.function`)
    textAt(fn.name, `${at}.function.name`)
    optionalObject(fn, 'arguments', `${at}.function.arguments`)
  }
}

const FUNCTION_TOOL: ReadonlySet<string> = new Set(['type', 'function'])

export function checkTools({ tools }: JsonObject): void {
  if (tools === undefined || tools === null) return
  for (const [i, value] of listAt(tools, 'tools').entries()) {
    const path = `tools[${i}]`
    const tool = objectAt(value, path)
    if ((tool.type ?? 'function') !== 'function') throw invalid(`${path}.type`, 'must be function.')
    refuseOtherFields(tool, FUNCTION_TOOL, path)
    const fn = objectAt(tool.function, `${path}.function`)
    textAt(fn.name, `${path}.function.name`)
    optionalText(fn, 'description', `${path}.function.description`)
    optionalObject(fn, 'parameters', `${path}.function.parameters`)
  }
}

/** Options that mean the same everywhere. */
const READ: ReadonlySet<string> = new Set([
  ...['num_predict', 'temperature', 'top_p', 'seed', 'stop', 'presence_penalty', 'frequency_penalty'],
])
/** What only this format's server can be told of how to choose a token, and what asks for nothing. */
const SAMPLING: Readonly<Record<string, Json>> = toTable({
  top_k: 0,
  min_p: 0,
  typical_p: 1,
  tfs_z: 1,
  repeat_last_n: 0,
  repeat_penalty: 1,
  mirostat: 0,
  mirostat_eta: 0,
  mirostat_tau: 0,
  penalize_newline: false,
})
/** How its server runs a model: who serves it in another way has nothing to honour. */
const MACHINE: ReadonlySet<string> = new Set([
  ...['num_ctx', 'num_keep', 'num_batch', 'num_gpu', 'main_gpu', 'low_vram', 'vocab_only', 'use_mmap'],
  ...['use_mlock', 'num_thread', 'numa', 'f16_kv', 'logits_all', 'embedding_only'],
])

export function checkOptions(body: JsonObject, findings: TargetFindings): void {
  const options = optionalObject(body, 'options')
  if (options === undefined) return
  for (const [name, value] of Object.entries(options)) {
    const at = `options.${name}`
    if (value === null || READ.has(name) || MACHINE.has(name)) continue
    if (!Object.hasOwn(SAMPLING, name)) {
      refuseReservedName(name, at)
      findings.unread.push(at)
    } else if (value !== SAMPLING[name]) findings.nativeOnly.push(at)
  }
  for (const name of ['num_predict', 'seed'])
    optionalNumber(options, name, { integer: true }, `options.${name}`)
  for (const name of ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'])
    optionalNumber(options, name, {}, `options.${name}`)
  if (Array.isArray(options.stop)) {
    for (const [i, text] of options.stop.entries()) textAt(text, `options.stop[${i}]`)
  } else optionalText(options, 'stop', 'options.stop')
}

/** An option that the gateway does not read, which client tokens may not send. */
export function findUnreadOption(options: JsonObject): string | undefined {
  for (const name in options) {
    if (!READ.has(name) && !Object.hasOwn(SAMPLING, name)) return `options.${name}`
  }
  return undefined
}
