import type { Json, JsonObject } from '../../../json/json-value.ts'
import { toTable } from '../../../json/to-table.ts'
import {
  invalid,
  isObject,
  listAt,
  objectAt,
  optionalObject,
  refuseUnknown,
  textAt,
} from '../../shared/read-fields.ts'
import { refuseReservedFields } from '../../shared/reserved-fields.ts'
import { findOtherField } from '../../shared/tool-fields.ts'

/** Checks of what the gateway relies on in a Converse body; the provider judges the rest. */

export function checkMessages(body: JsonObject): void {
  if (body.system !== undefined && body.system !== null) checkBlocks(body.system, 'system')
  const messages = listAt(body.messages, 'messages')
  if (messages.length === 0) throw invalid('messages', 'must have at least one message.')
  for (const [at, value] of messages.entries()) {
    const path = `messages[${at}]`
    const message = objectAt(value, path)
    if (message.role !== 'user' && message.role !== 'assistant') {
      throw invalid(`${path}.role`, 'must be user or assistant.')
    }
    checkBlocks(message.content, `${path}.content`)
  }
}

function checkBlocks(content: Json | undefined, path: string): void {
  for (const [at, value] of listAt(content, path).entries()) {
    const block = objectAt(value, `${path}[${at}]`)
    for (const kind in block) {
      if (block[kind] !== null) CHECKS[kind]?.(block[kind], `${path}[${at}].${kind}`)
    }
  }
}

/** Blocks that other providers get a translation of. */
const CHECKS: Readonly<Record<string, (value: Json | undefined, path: string) => void>> = toTable({
  text: textAt,
  image: checkMedia,
  document: checkMedia,
  audio: checkMedia,
  video: checkMedia,
  toolUse: (value, path) => {
    const use = objectAt(value, path)
    textAt(use.toolUseId, `${path}.toolUseId`)
    textAt(use.name, `${path}.name`)
  },
  toolResult: (value, path) => {
    const result = objectAt(value, path)
    textAt(result.toolUseId, `${path}.toolUseId`)
    checkBlocks(result.content, `${path}.content`)
  },
  reasoningContent: (value, path) => objectAt(value, path),
})

function checkMedia(value: Json | undefined, path: string): void {
  const source = objectAt(objectAt(value, path).source, `${path}.source`)
  const other = findOtherField(source, SOURCE)
  if (other !== undefined) throw invalid(`${path}.source.${other}`, 'may not be set here: send the bytes.')
}

/** Fields that hold the content itself. Any other field names an object in the account's store. */
const SOURCE: ReadonlySet<string> = new Set(['bytes', 'text', 'content'])

const CONFIG: ReadonlySet<string> = new Set(['tools', 'toolChoice'])
const TOOL: ReadonlySet<string> = new Set(['toolSpec', 'cachePoint'])

export function checkTools(body: JsonObject): void {
  const config = optionalObject(body, 'toolConfig')
  if (config === undefined) return
  refuseReservedFields(config, CONFIG, 'toolConfig')
  optionalObject(config, 'toolChoice', 'toolConfig.toolChoice')
  for (const [at, value] of listAt(config.tools, 'toolConfig.tools').entries()) {
    const path = `toolConfig.tools[${at}]`
    const tool = objectAt(value, path)
    // A tool that the provider runs itself has a price of its own, which nothing here knows.
    const isHosted = findOtherField(tool, TOOL) !== undefined
    if (!isHosted && tool.cachePoint !== undefined && tool.cachePoint !== null && tool.toolSpec == null)
      continue
    if (isHosted || !isObject(tool.toolSpec)) {
      throw invalid(path, 'must have a toolSpec alone; tools that a provider hosts are not offered.')
    }
    textAt(tool.toolSpec.name, `${path}.toolSpec.name`)
    const schema = optionalObject(tool.toolSpec, 'inputSchema', `${path}.toolSpec.inputSchema`)
    if (schema !== undefined) objectAt(schema.json, `${path}.toolSpec.inputSchema.json`)
  }
}

const TIER: ReadonlySet<string> = new Set(['type'])
const PERFORMANCE: ReadonlySet<string> = new Set(['latency'])

/** Where an answer of the usual price may be asked for, but no other. */
export function checkSettings(body: JsonObject): void {
  refuseUnknown(optionalObject(body, 'serviceTier') ?? {}, TIER, 'serviceTier')
  refuseUnknown(optionalObject(body, 'performanceConfig') ?? {}, PERFORMANCE, 'performanceConfig')
  const tier = optionalObject(body, 'serviceTier')?.type ?? 'default'
  if (tier !== 'default') {
    const reason = 'must be default: other tiers have prices that the gateway does not know.'
    throw invalid('serviceTier.type', reason)
  }
  const latency = optionalObject(body, 'performanceConfig')?.latency ?? 'standard'
  if (latency !== 'standard') {
    throw invalid('performanceConfig.latency', 'must be standard: the gateway does not know another’s price.')
  }
  const stop = optionalObject(body, 'inferenceConfig')?.stopSequences
  if (stop !== undefined && stop !== null) {
    const path = 'inferenceConfig.stopSequences'
    for (const [at, value] of listAt(stop, path).entries()) textAt(value, `${path}[${at}]`)
  }
  checkFormat(body)
}

/** It is parsed in one go. */
const MAX_SCHEMA = 65_536

function checkFormat(body: JsonObject): void {
  const path = 'outputConfig.textFormat'
  const format = optionalObject(optionalObject(body, 'outputConfig') ?? {}, 'textFormat', path)
  if (format === undefined) return
  if (format.type !== 'json_schema') throw invalid(`${path}.type`, 'must be json_schema.')
  const at = `${path}.structure.jsonSchema`
  const schema = objectAt(objectAt(format.structure, `${path}.structure`).jsonSchema, at)
  const text = textAt(schema.schema, `${at}.schema`)
  if (text.length > MAX_SCHEMA) throw invalid(`${at}.schema`, 'must have at most 65,536 characters.')
  if (!isObject(parse(text))) throw invalid(`${at}.schema`, 'must be the text of a JSON object.')
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
