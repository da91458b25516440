import { afterAll, beforeAll, expect, test } from 'vitest'
import { message } from '../../testing/fakes/scripted-anthropic.ts'
import { completion, json } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/** Files that a caller of Responses names by their address, at models of other formats. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const URL = 'https://files.example/a.pdf'

function ask(model: string): Promise<Response> {
  const content = [
    { type: 'input_text', text: 'What is this?' },
    { type: 'input_file', filename: 'a.pdf', file_url: URL },
  ]
  const body = { model, max_output_tokens: 99, input: [{ role: 'user', content }] }
  return harness.app.call('/openai/v1/responses', body)
}

test('reach Claude and Gemini, which fetch them', async () => {
  harness.upstream.script(message([{ type: 'text', text: 'x' }]))
  expect((await ask('anthropic/claude-sonnet-4-6')).status).toBe(200)
  const document = { type: 'document', source: { type: 'url', url: URL }, title: 'a.pdf' }
  expect(harness.upstream.requests.at(-1)?.body).toMatchObject({ messages: [{ content: [{}, document] }] })
  const candidates = [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }]
  harness.upstream.script(json(200, { candidates }))
  expect((await ask('gemini/gemini-3-flash-preview')).status).toBe(200)
  const file = { fileData: { fileUri: URL, mimeType: 'application/pdf' } }
  expect(harness.upstream.requests.at(-1)?.body).toMatchObject({ contents: [{ parts: [{}, file] }] })
})

test('are refused by name at a provider of chat completions, which has no such part, or left out with the header', async () => {
  const before = harness.upstream.requests.length
  const refused = await ask('groq/llama-3.3-70b-versatile')
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { param: 'file_url' } })
  expect(harness.upstream.requests.length).toBe(before)
  await harness.set({ unsupported_params: 'drop' })
  harness.upstream.script(completion('x'))
  const answered = await ask('groq/llama-3.3-70b-versatile')
  expect([answered.status, answered.headers.get('x-rideau-dropped-params')]).toEqual([200, 'file_url'])
  expect(JSON.stringify(harness.upstream.requests.at(-1)?.body)).not.toContain(URL)
})
