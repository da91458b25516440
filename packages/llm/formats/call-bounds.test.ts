import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../json/json-value.ts'
import type { FormatId } from '../request/format-id.ts'
import { toSourceBody } from '../testing/recorded-requests.ts'
import { FORMATS } from './index.ts'
import { CARRIER_MARK } from './shared/reasoning/reasoning-carrier.ts'

type Kind = 'name' | 'call' | 'result' | 'tool'

/** Messages with a call, its result, or a declared tool, of one format. */
const BODIES: Readonly<Record<string, (id: string, name: string) => Record<Kind, JsonObject>>> = {
  openai: (id, name) => {
    const call = { id, type: 'function', function: { name, arguments: '{}' } }
    const messages = (...added: Json[]): JsonObject => ({
      messages: [{ role: 'user', content: 'x' }, ...added],
    })
    return {
      name: messages({ role: 'assistant', tool_calls: [{ ...call, id: 'a' }] }),
      call: messages({ role: 'assistant', content: null, tool_calls: [call] }),
      result: messages({ role: 'tool', tool_call_id: id, content: 'x' }),
      tool: { ...messages(), tools: [{ type: 'function', function: { name, parameters: {} } }] },
    }
  },
  responses: (id, name) => ({
    name: { input: [{ type: 'function_call', call_id: 'a', name, arguments: '{}' }] },
    call: { input: [{ type: 'custom_tool_call', call_id: id, name: 'f', input: '' }] },
    result: { input: [{ type: 'function_call_output', call_id: id, output: 'x' }] },
    tool: { input: 'x', tools: [{ type: 'function', name, parameters: {} }] },
  }),
  anthropic: (id, name) => {
    const said = (block: JsonObject): JsonObject => ({
      max_tokens: 1,
      messages: [{ role: 'user', content: [block] }],
    })
    return {
      name: said({ type: 'tool_use', id: 'a', name, input: {} }),
      call: said({ type: 'tool_use', id, name: 'f', input: {} }),
      result: said({ type: 'tool_result', tool_use_id: id }),
      tool: { ...said({ type: 'text', text: 'x' }), tools: [{ name, input_schema: {} }] },
    }
  },
  gemini: (id, name) => {
    const said = (part: JsonObject): JsonObject => ({ contents: [{ role: 'model', parts: [part] }] })
    return {
      name: said({ functionCall: { name, args: {} } }),
      call: said({ functionCall: { id, name: 'f', args: {} } }),
      result: said({ functionResponse: { id, name: 'f', response: {} } }),
      tool: { ...said({ text: 'x' }), tools: [{ functionDeclarations: [{ name }] }] },
    }
  },
  bedrock: (id, name) => {
    const said = (block: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [block] }] })
    return {
      name: said({ toolUse: { toolUseId: 'a', name, input: {} } }),
      call: said({ toolUse: { toolUseId: id, name: 'f', input: {} } }),
      result: said({ toolResult: { toolUseId: id, content: [] } }),
      tool: {
        ...said({ text: 'x' }),
        toolConfig: { tools: [{ toolSpec: { name, inputSchema: { json: {} } } }] },
      },
    }
  },
  ollama: (id, name) => {
    const messages = (...added: Json[]): JsonObject => ({
      messages: [{ role: 'user', content: 'x' }, ...added],
    })
    return {
      name: messages({ role: 'assistant', tool_calls: [{ function: { name, arguments: {} } }] }),
      call: messages({ role: 'assistant', tool_calls: [{ id, function: { name: 'f', arguments: {} } }] }),
      result: messages({ role: 'tool', tool_call_id: id, content: 'x' }),
      tool: { ...messages(), tools: [{ type: 'function', function: { name, parameters: {} } }] },
    }
  },
}

const SHAPES: readonly (readonly [id: FormatId, shape: string])[] = [
  ['native', 'openai'],
  ['openai-chat', 'openai'],
  ['openai-responses', 'responses'],
  ['anthropic-messages', 'anthropic'],
  ['gemini-content', 'gemini'],
  ['cohere-v2', 'openai'],
  ['bedrock-converse', 'bedrock'],
  ['ollama-chat', 'ollama'],
]

function parse(id: FormatId, fields: JsonObject): void {
  const server = FORMATS.find(format => format.id === id)?.served?.chat[0]?.server
  if (server === undefined) throw new Error(`nobody serves ${id}`)
  // The path names the model there.
  const body = id === 'bedrock-converse' ? fields : { model: 'p/m', ...fields }
  server.parse(body, { source: toSourceBody(id, body), pathModel: 'p/m', isEndUser: false })
}

const CHARACTERS = { name: 256, tool: 256, call: 65_536, result: 65_536 }

describe.each(SHAPES)('%s bounds', (id, shape) => {
  const make = (kind: Kind, text: string): JsonObject => {
    const isName = kind === 'name' || kind === 'tool'
    return (BODIES[shape] as (typeof BODIES)[string])(isName ? 'a' : text, isName ? text : 'f')[kind]
  }

  test.each<[Kind, string]>([
    ['name', 'the name of a call'],
    ['tool', 'the name of a tool'],
    ['call', 'the id of a call'],
    ['result', 'the id of a result'],
  ])('%s: %s, and names it', kind => {
    const max = CHARACTERS[kind]
    parse(id, make(kind, 'a'.repeat(max)))
    expect(() => parse(id, make(kind, 'a'.repeat(max + 1)))).toThrow(
      new RegExp(`^\\S+: must have at most ${max.toLocaleString('en-US')} characters.*; got ${max + 1}\\.$`),
    )
  })

  test('ids without the reasoning that they carry', () => {
    parse(id, make('call', `${'a'.repeat(65_536)}${CARRIER_MARK}${'A'.repeat(100_000)}`))
  })
})
