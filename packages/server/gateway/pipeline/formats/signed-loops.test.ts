import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import {
  LAST_TEXT,
  listCallIds,
  SIGNING_PROVIDERS,
  type SigningProvider,
  TURNS,
} from '../../../testing/fakes/signing-providers.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

/**
 * Loops of five turns with tools, at providers that sign their reasoning and refuse a conversation in which anything of it
 * is missing, changed or out of place.
 */

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const { provider } of SIGNING_PROVIDERS) {
    const options = provider === 'bedrock' ? { options: { region: 'eu-west-1' } } : {}
    await app.addCredential(provider, { api_key: 'key', base_url: upstream.baseUrl, ...options })
  }
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

// biome-ignore lint: JSON of any format
type Body = any

/** Fields that a provider makes itself. */
const MADE = new Set(['status', 'annotations', 'logprobs'])

/** What a provider checks, with the names of objects in one order. Gemini's thoughts and OpenAI's ids of items may be missing. */
function toChecked(value: Body): Body {
  if (Array.isArray(value)) return value.filter(each => each?.thought !== true).map(toChecked)
  if (typeof value !== 'object' || value === null) return value
  const hasOwnId = value.type === 'message' || value.type === 'function_call'
  return Object.fromEntries(
    Object.keys(value)
      .filter(name => !MADE.has(name) && !(hasOwnId && name === 'id'))
      .sort()
      .map(name => [name, toChecked(value[name])]),
  )
}

/** Lets the upstream act as the provider. Returns what it found wrong. */
function script({ toTurn, toReply, toStream, readTurns, readResults }: SigningProvider): unknown[] {
  const wrong: unknown[] = []
  upstream.script((res, seen) => {
    const turns = readTurns(seen.body)
    const written = turns.map((_, at) => toTurn(at + 1))
    const isStream = seen.body.stream === true || /stream/i.test(seen.path)
    const found = [turns, readResults(seen.body)].map(toChecked)
    const expected = [written, listCallIds(turns.length)].map(toChecked)
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      wrong.push({ found, expected })
      return json(400, { error: { message: 'Invalid signature.', type: 'invalid_request_error' } })(res, seen)
    }
    const parts = toTurn(turns.length + 1)
    return (isStream ? toStream(parts) : toReply(parts))(res, seen)
  })
  return wrong
}

const QUESTION = { role: 'user', content: 'Go on.' }
const FUNCTION = { name: 'usual_tool', parameters: { type: 'object', properties: {} } }

/** A client of one format: it sends the conversation and adds the answer and the results of its calls. */
interface Client {
  readonly route: string
  readonly fields: object
  /** The field with the conversation. */
  readonly list: 'messages' | 'input'
  /** What the client keeps of an answer. */
  keep(answer: Body): Body[]
  /** The results of the calls in what it kept; empty: there is none. */
  answer(kept: Body[]): Body[]
  textOf(kept: Body[]): string
}

/** Keeps the fields of OpenAI's format alone. */
const chatClient: Client = {
  route: '/openai/v1/chat/completions',
  fields: {
    tools: [{ type: 'function', function: FUNCTION }],
    reasoning_effort: 'low',
    max_completion_tokens: 9_000,
  },
  list: 'messages',
  keep({ choices: [{ message }] }) {
    const { role, content, tool_calls: calls } = message
    const standard = calls?.map(({ id, type, function: { name, arguments: text } }: Body) => ({
      id,
      type,
      function: { name, arguments: text },
    }))
    return [{ role, content, ...(standard === undefined ? {} : { tool_calls: standard }) }]
  },
  answer: ([{ tool_calls: calls = [] }]) =>
    calls.map(({ id }: Body) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
  textOf: ([{ content }]) => content,
}
const responsesClient: Client = {
  route: '/openai/v1/responses',
  fields: {
    tools: [{ type: 'function', ...FUNCTION }],
    reasoning: { effort: 'low' },
    include: ['reasoning.encrypted_content'],
    store: false,
    max_output_tokens: 9_000,
  },
  list: 'input',
  keep: ({ output }) => output,
  answer: items =>
    items.flatMap(({ type, call_id: id }) =>
      type === 'function_call' ? [{ type: 'function_call_output', call_id: id, output: 'ok' }] : [],
    ),
  textOf: items => items.find(({ type }) => type === 'message')?.content[0].text,
}
const anthropicClient: Client = {
  route: '/anthropic/v1/messages',
  fields: {
    tools: [{ name: FUNCTION.name, input_schema: FUNCTION.parameters }],
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    max_tokens: 9_000,
  },
  list: 'messages',
  keep: ({ content }) => [{ role: 'assistant', content }],
  answer([{ content }]) {
    const results = content.flatMap(({ type, id }: Body) =>
      type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] : [],
    )
    return results.length === 0 ? [] : [{ role: 'user', content: results }]
  },
  textOf: ([{ content }]) => content.find(({ type }: Body) => type === 'text')?.text,
}

/** The answer that the chunks of a stream amount to, for a client of OpenAI's format. */
function addUp(text: string): Body {
  const message: Body = { role: 'assistant', content: '' }
  for (const [, data = ''] of text.matchAll(/^data: (\{.*)$/gm)) {
    const { delta = {} } = JSON.parse(data).choices[0] ?? {}
    message.content += delta.content ?? ''
    for (const { index, ...call } of delta.tool_calls ?? []) {
      message.tool_calls ??= []
      const known = message.tool_calls[index]
      if (known === undefined) message.tool_calls[index] = call
      else known.function.arguments += call.function.arguments
    }
  }
  return { choices: [{ message }] }
}

async function loop(provider: SigningProvider, client: Client, isStream: boolean): Promise<[number, string]> {
  const { route, fields, list, keep, answer, textOf } = client
  let conversation: Body[] = [QUESTION]
  for (let turn = 1; turn <= TURNS + 1; turn++) {
    const body = { model: provider.model, ...fields, [list]: conversation, stream: isStream }
    const response = await app.call(route, body)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`turn ${turn}: ${text}`)
    const kept = keep(isStream ? addUp(text) : JSON.parse(text))
    const results = answer(kept)
    if (results.length === 0) return [turn, textOf(kept)]
    conversation = [...conversation, ...kept, ...results]
  }
  throw new Error('the loop does not end')
}

const CHAT = [
  ["OpenAI's chat, which keeps standard fields only", chatClient, false],
  ["streams of OpenAI's chat, which keeps standard fields only", chatClient, true],
] as const
const OTHERS = [
  ['Responses', responsesClient, false],
  ["Anthropic's Messages", anthropicClient, false],
] as const

describe.each(SIGNING_PROVIDERS)('$provider', provider => {
  // OpenRouter itself takes the other formats.
  test.each(provider.provider === 'openrouter' ? CHAT : [...CHAT, ...OTHERS])(
    'accepts five turns of a client of %s',
    async (_, client, isStream) => {
      const wrong = script(provider)
      const ended = await loop(provider, client, isStream).catch(String)
      expect(wrong).toEqual([])
      expect(ended).toEqual([TURNS + 1, LAST_TEXT])
    },
  )
})
