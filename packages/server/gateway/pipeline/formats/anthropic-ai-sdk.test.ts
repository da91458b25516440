import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { block, message, messageStream, textBlock } from '../../../testing/fakes/scripted-anthropic.ts'
import {
  chunk,
  completion,
  DONE,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
let other: ScriptedUpstream
let provider: ReturnType<typeof createAnthropic>

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  other = await openScriptedUpstream()
  await app.addCredential('anthropic', { api_key: 'sk-ant-of-the-tenant', base_url: upstream.baseUrl })
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: other.baseUrl })
  provider = createAnthropic({ baseURL: `${app.gatewayUrl}/anthropic/v1`, apiKey: app.secretKey })
})

afterAll(async () => {
  await upstream.close()
  await other.close()
  await app.close()
})

const prompt = 'What time is it?'
const tools = {
  now: tool({
    description: 'The time',
    inputSchema: z.object({ tz: z.string() }),
    execute: async ({ tz }) => `12:00 ${tz}`,
  }),
}
const openAiCall = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{"tz":"UTC"}' } }

/** Three conversations with a provider of each format behind the gateway. */
const CASES = [
  {
    name: 'of the same format',
    model: 'claude-sonnet-4-6',
    upstream: () => upstream,
    chat: message([{ type: 'text', text: 'Noon.' }]),
    stream: messageStream(textBlock(0, 'No', 'on', '.')),
    callThenAnswer: [
      messageStream(
        block(
          0,
          { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} },
          { type: 'input_json_delta', partial_json: '{"tz":' },
          { type: 'input_json_delta', partial_json: '"UTC"}' },
        ),
        'tool_use',
      ),
      messageStream(textBlock(0, 'Noon.')),
    ],
    inputTokens: 24,
  },
  {
    name: 'of another format',
    model: 'openai/gpt-4o-mini',
    upstream: () => other,
    chat: completion('Noon.'),
    stream: streamedCompletion('No', 'on', '.'),
    callThenAnswer: [
      stream(
        chunk({ role: 'assistant', content: null }),
        chunk({ tool_calls: [{ index: 0, ...openAiCall }] }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        DONE,
      ),
      streamedCompletion('Noon.'),
    ],
    inputTokens: 12,
  },
]

describe.each(CASES)('the AI SDK, with a provider $name', each => {
  const model = () => provider(each.model)

  test('gets a chat answer', async () => {
    each.upstream().script(each.chat)
    const { text, finishReason, usage } = await generateText({
      model: model(),
      prompt,
      maxOutputTokens: 100,
      maxRetries: 0,
    })
    expect({ text, finishReason }).toEqual({ text: 'Noon.', finishReason: 'stop' })
    expect(usage.inputTokens).toBe(each.inputTokens)
  })

  test('gets a stream', async () => {
    each.upstream().script(each.stream)
    const result = streamText({ model: model(), prompt, maxOutputTokens: 100, maxRetries: 0 })
    const parts: string[] = []
    for await (const part of result.textStream) parts.push(part)
    expect(parts.join('')).toBe('Noon.')
    expect(await result.finishReason).toBe('stop')
    expect((await result.usage).inputTokens).toBe(each.inputTokens)
  })

  test('gets streamed tool calls and answers them', async () => {
    each.upstream().script(...each.callThenAnswer)
    const result = streamText({
      model: model(),
      prompt,
      tools,
      stopWhen: stepCountIs(2),
      maxOutputTokens: 100,
      maxRetries: 0,
    })
    for await (const part of result.fullStream) if (part.type === 'error') throw part.error
    const steps = await result.steps
    expect(steps[0]?.toolResults[0]).toMatchObject({ toolName: 'now', output: '12:00 UTC' })
    expect(steps[0]?.finishReason).toBe('tool-calls')
    expect(await result.text).toBe('Noon.')
    expect(JSON.stringify(each.upstream().requests.at(-1)?.body.messages)).toContain('12:00 UTC')
  })
})
