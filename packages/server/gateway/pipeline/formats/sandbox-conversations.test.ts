import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await openTestApp()
})

afterAll(async () => {
  await app.close()
})

// biome-ignore lint: JSON of any format
type Body = any

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const TOOL = { name: 'weather', description: 'The weather of a city', parameters }

/** How one format asks, reads a call, and returns its result. */
interface Format {
  readonly route: string
  ask(model: string): Body
  /** The whole turn of the model, as a client sends it back. */
  turn(answer: Body): Body[]
  callOf(turn: Body[]): { readonly name: string; readonly args: Body } | undefined
  /** The next request: the turn, and the result of its call or more words of the user. */
  next(request: Body, turn: Body[], result?: string): Body
  textOf(answer: Body): string
}

const chat: Format = {
  route: '/openai/v1/chat/completions',
  ask: model => ({
    model,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'function', function: TOOL }],
  }),
  turn: answer => [answer.choices[0].message],
  callOf: ([{ tool_calls: calls }]) =>
    calls && { name: calls[0].function.name, args: JSON.parse(calls[0].function.arguments) },
  next: (request, turn, result) => ({
    ...request,
    messages: [
      ...request.messages,
      ...turn,
      result === undefined
        ? { role: 'user', content: 'more' }
        : { role: 'tool', tool_call_id: turn[0].tool_calls[0].id, content: result },
    ],
  }),
  textOf: answer => answer.choices[0].message.content,
}

const FORMATS: Record<string, Format> = {
  'openai-chat': chat,
  native: { ...chat, route: '/v1/chat' },
  'openai-responses': {
    route: '/openai/v1/responses',
    ask: model => ({
      model,
      input: [{ role: 'user', content: 'hi' }],
      store: false,
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', ...TOOL }],
    }),
    turn: answer => answer.output,
    callOf: turn => {
      const call = turn.find(({ type }) => type === 'function_call')
      return call && { name: call.name, args: JSON.parse(call.arguments) }
    },
    next: (request, turn, result) => ({
      ...request,
      input: [
        ...request.input,
        ...turn,
        result === undefined
          ? { role: 'user', content: 'more' }
          : { type: 'function_call_output', call_id: turn.at(-1).call_id, output: result },
      ],
    }),
    textOf: answer => answer.output.at(-1).content[0].text,
  },
  'anthropic-messages': {
    route: '/anthropic/v1/messages',
    ask: model => ({
      model,
      max_tokens: 500,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: parameters }],
    }),
    turn: answer => answer.content,
    callOf: turn => {
      const call = turn.find(({ type }) => type === 'tool_use')
      return call && { name: call.name, args: call.input }
    },
    next: (request, turn, result) => ({
      ...request,
      messages: [
        ...request.messages,
        { role: 'assistant', content: turn },
        {
          role: 'user',
          content:
            result === undefined
              ? 'more'
              : [
                  { type: 'tool_result', tool_use_id: turn.at(-1).id, content: result },
                  { type: 'text', text: 'A reminder that an agent adds.' },
                ],
        },
      ],
    }),
    textOf: answer => answer.content.at(-1).text,
  },
  'gemini-content': {
    route: '/gemini/v1beta/models/',
    ask: model => ({
      model,
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [{ functionDeclarations: [TOOL] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    }),
    turn: answer => answer.candidates[0].content.parts,
    callOf: turn => turn.find(part => part.functionCall)?.functionCall,
    next: (request, turn, result) => {
      const call = turn.at(-1).functionCall
      const part =
        result === undefined
          ? { text: 'more' }
          : { functionResponse: { id: call.id, name: call.name, response: { output: result } } }
      const contents = [...request.contents, { role: 'model', parts: turn }, { role: 'user', parts: [part] }]
      return { ...request, contents }
    },
    textOf: answer => answer.candidates[0].content.parts.map((part: Body) => part.text).join(''),
  },
  'bedrock-converse': {
    route: '/bedrock/model/',
    ask: model => ({
      model,
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      toolConfig: { tools: [{ toolSpec: { name: TOOL.name, inputSchema: { json: parameters } } }] },
    }),
    turn: answer => answer.output.message.content,
    callOf: turn => {
      const call = turn.find(({ toolUse }) => toolUse)?.toolUse
      return call && { name: call.name, args: call.input }
    },
    next: (request, turn, result) => {
      const content =
        result === undefined
          ? { text: 'more' }
          : { toolResult: { toolUseId: turn.at(-1).toolUse.toolUseId, content: [{ text: result }] } }
      return {
        ...request,
        messages: [
          ...request.messages,
          { role: 'assistant', content: turn },
          { role: 'user', content: [content] },
        ],
      }
    },
    textOf: answer => answer.output.message.content.at(-1).text,
  },
  'cohere-v2': {
    route: '/cohere/v2/chat',
    ask: model => ({ ...chat.ask(model), stream: false }),
    turn: answer => [answer.message],
    callOf: chat.callOf,
    next: chat.next,
    textOf: answer => answer.message.content.at(-1).text,
  },
  'ollama-chat': {
    route: '/ollama/api/chat',
    ask: model => ({ ...chat.ask(model), stream: false }),
    turn: answer => [answer.message],
    callOf: ([{ tool_calls: calls }]) =>
      calls && { name: calls[0].function.name, args: calls[0].function.arguments },
    next: (request, turn, result) => ({
      ...request,
      messages: [
        ...request.messages,
        ...turn,
        result === undefined
          ? { role: 'user', content: 'more' }
          : { role: 'tool', tool_name: 'weather', content: result },
      ],
    }),
    textOf: answer => answer.message.content,
  },
}

/** Two formats name the model in the path. */
async function send({ route }: Format, body: Body): Promise<Body> {
  const { model, ...rest } = body
  const path = route.startsWith('/gemini')
    ? `${route}${model}:generateContent`
    : route.startsWith('/bedrock')
      ? `${route}${encodeURIComponent(model)}/converse`
      : undefined
  const response = await app.call(path ?? route, path === undefined ? body : rest)
  const answer = await response.json()
  expect([response.status, answer]).toEqual([200, expect.anything()])
  return answer
}

describe.each(Object.entries(FORMATS))('a caller of %s', (name, format) => {
  test.each(['sandbox/tools', 'sandbox/reasoning'])('plays a whole tool loop with %s', async model => {
    const request = format.ask(model)
    const turn = format.turn(await send(format, request))
    expect(format.callOf(turn)).toMatchObject({ name: 'weather', args: { city: 'text' } })
    const text = format.textOf(await send(format, format.next(request, turn, '21 °C')))
    expect(text).toContain('The tool answered:')
    expect(text).toContain('21 °C')
    // The id of the call carries them where the format has no field for them.
    expect(text.includes('Signed reasoning came back from 1 of my messages.')).toBe(
      model === 'sandbox/reasoning',
    )
  })

  test('sends reasoning back without a call, where the format has a field for it', async () => {
    const { tools: _tools, toolConfig: _config, ...request } = format.ask('sandbox/reasoning')
    const turn = format.turn(await send(format, request))
    const text = format.textOf(await send(format, format.next(request, turn)))
    const hasField = name !== 'cohere-v2' && name !== 'ollama-chat'
    expect(text.includes('Signed reasoning came back from 1 of my messages.')).toBe(hasField)
  })
})
