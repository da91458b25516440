import type { Json, JsonObject } from '../../../json/json-value.ts'
import { noFindings, type TargetFindings } from '../../shared/findings.ts'
import { isObject } from '../../shared/read-fields.ts'

/** Read for every target, or of no consequence to an answer: how much of the past is kept, how long a cache lives. */
const PORTABLE: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'temperature', 'top_p', 'stop_sequences'],
  ...['tools', 'tool_choice', 'thinking', 'output_config', 'output_format', 'metadata', 'service_tier'],
  ...['cache_control', 'context_management', 'speed', 'inference_geo', 'anthropic_beta', 'betas'],
])

/** Blocks that have a canonical form, and thinking, which goes to who made it and to nobody else. */
const BLOCKS: ReadonlySet<Json | undefined> = new Set([
  ...['text', 'image', 'document', 'tool_use', 'tool_result', 'search_result', 'tool_reference'],
  ...['thinking', 'redacted_thinking'],
])
const IMAGE_SOURCES: ReadonlySet<Json | undefined> = new Set(['base64', 'url'])

/**
 * What of a Messages body only a target of the same format can honour: tools that its models were trained for or that
 * its provider runs, what these left in the conversation, and fields that nobody here reads. `body` is checked before.
 */
export function findAnthropicOnly(body: JsonObject): TargetFindings {
  const findings = noFindings()
  const { nativeOnly } = findings
  const lost = new Set<Json | undefined>()
  for (const [i, tool] of toList(body.tools).entries()) {
    if (!isObject(tool) || isFunction(tool)) continue
    nativeOnly.push(`tools[${i}]`)
    lost.add(tool.name)
  }
  if (isObject(body.tool_choice) && body.tool_choice.type === 'tool' && lost.has(body.tool_choice.name)) {
    nativeOnly.push('tool_choice')
  }
  findBlocks(body.system, 'system', nativeOnly)
  for (const [i, message] of toList(body.messages).entries()) {
    if (isObject(message)) findBlocks(message.content, `messages[${i}].content`, nativeOnly)
  }
  for (const name in body) if (!PORTABLE.has(name) && body[name] !== null) nativeOnly.push(name)
  return findings
}

function isFunction({ type }: JsonObject): boolean {
  return type === undefined || type === null || type === 'custom'
}

function findBlocks(content: Json | undefined, path: string, found: string[]): void {
  for (const [i, block] of toList(content).entries()) {
    if (!isObject(block)) continue
    const at = `${path}[${i}]`
    if (!BLOCKS.has(block.type)) found.push(at)
    else if (block.type === 'tool_result') findBlocks(block.content, `${at}.content`, found)
    else if (block.type === 'image' && isObject(block.source) && !IMAGE_SOURCES.has(block.source.type)) {
      found.push(at)
    }
  }
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}
