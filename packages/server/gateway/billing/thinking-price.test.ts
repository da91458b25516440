import { afterAll, beforeAll, expect, test } from 'vitest'
import { chunk, completion, DONE, stream, usageChunk } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp } from '../../testing/harness/limited-app.ts'

/** Alibaba charges output at $4 a million, not $1.2, where the model has thought, and does not always count that as reasoning. */

let limited: LimitedApp
beforeAll(async () => {
  limited = await openLimitedApp()
  await limited.app.addCredential('alibaba', { api_key: 'k', base_url: limited.upstream.baseUrl })
})
afterAll(() => limited.close())

const USAGE = { prompt_tokens: 10, completion_tokens: 360, total_tokens: 370 }
const THOUGHT = { reasoning_content: 'Let me think.' }

function script(isStream: boolean, delta: object): void {
  const message = { role: 'assistant', content: 'hi', ...delta }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const events = [chunk({ content: '', ...delta }), chunk({ content: 'hi' }), chunk({}, 'stop')]
  limited.upstream.script(
    isStream ? stream(...events, usageChunk(USAGE), DONE) : completion('', { choices, usage: USAGE }),
  )
}

async function costOf(route: string, isStream: boolean): Promise<number | null> {
  const body = { model: 'alibaba/qwen-plus', messages: [{ role: 'user', content: 'hi' }], stream: isStream }
  const response = await limited.app.call(route, body)
  await response.text()
  expect(response.status).toBe(200)
  return (await limited.app.findLog(response.headers.get('x-request-id') ?? '')).cost_usd
}

test.each([
  ['plain', '/v1/chat', false],
  ['a stream that is translated', '/v1/chat', true],
  ['a stream that passes', '/openai/v1/chat/completions', true],
])('an answer with reasoning costs its price of thinking: %s', async (_what, route, isStream) => {
  script(isStream, THOUGHT)
  expect(await costOf(route, isStream)).toBeCloseTo(0.001444, 9)
  script(isStream, {})
  expect(await costOf(route, isStream)).toBeCloseTo(0.000436, 9)
})
