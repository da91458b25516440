import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageItem, responseOf } from '../../../testing/fakes/scripted-responses.ts'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream

const HOST = 'azure'
const messages = [{ role: 'user', content: 'Hi' }]

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream({ scriptsLists: true })
  const base_url = upstream.baseUrl
  await app.addCredential(HOST, { api_key: 'key-1', base_url, options: { resource: 'mine' } })
  const options = {
    resource: 'mine',
    api_version: '2025-04-01-preview',
    deployments: { 'gpt-4o': 'team/gpt' },
  }
  await app.addCredential(HOST, { api_key: 'key-2', base_url, options }, app.productionId)
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const chat = (fields: Record<string, unknown> = {}, key?: string): Promise<Response> =>
  app.call(
    '/openai/v1/chat/completions',
    { model: `${HOST}/gpt-4o`, messages, ...fields },
    key === undefined ? {} : { key },
  )

describe('an Azure resource with deployments', () => {
  test('receives its key in a header of its own, on the v1 path', async () => {
    upstream.script(completion('Hello.'))
    expect((await chat({ max_tokens: 9 })).status).toBe(200)
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/v1/chat/completions')
    expect([seen?.headers['api-key'], seen?.headers.authorization]).toEqual(['key-1', undefined])
    expect(seen?.body).toMatchObject({ model: 'gpt-4o', max_completion_tokens: 9 })
  })

  test("with an API version receives the deployment's path", async () => {
    const { key } = await app.createKey({}, app.productionId)
    upstream.script(completion('Hello.'))
    expect((await chat({}, key)).status).toBe(200)
    expect(upstream.requests.at(-1)?.path).toBe(
      '/deployments/team%2Fgpt/chat/completions?api-version=2025-04-01-preview',
    )
    expect(upstream.requests.at(-1)?.body.model).toBe('team/gpt')
  })

  test('receives Responses bodies unchanged', async () => {
    upstream.script(responseOf(messageItem('Hello.')))
    const answer = await app.call('/openai/v1/responses', { model: `${HOST}/gpt-4o`, input: 'Hi' })
    expect(answer.status).toBe(200)
    expect(upstream.requests.at(-1)?.path).toBe('/v1/responses')
  })

  test('maps a content policy violation to content_filtered', async () => {
    upstream.script(
      json(400, {
        error: {
          message:
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          type: null,
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror: { code: 'ResponsibleAIPolicyViolation' },
        },
      }),
    )
    const answer = await chat()
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      'content_filtered',
    ])
  })

  test('a first chunk without choices neither ends the stream nor counts as an answer', async () => {
    const frame = (fields: Record<string, unknown>): string => `data: ${JSON.stringify(fields)}\n\n`
    const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o' }
    const say = (delta: object, finish_reason: string | null = null): string =>
      frame({ ...head, choices: [{ index: 0, delta, finish_reason, content_filter_results: {} }] })
    upstream.script(
      stream(
        frame({
          id: '',
          object: '',
          created: 0,
          model: '',
          choices: [],
          prompt_filter_results: [{ prompt_index: 0 }],
        }),
        say({ role: 'assistant', content: '' }),
        say({ content: 'Hello.' }),
        say({}, 'stop'),
        'data: [DONE]\n\n',
      ),
    )
    const native = await app.call('/v1/chat', { model: `${HOST}/gpt-4o`, messages, stream: true })
    const text = await native.text()
    expect(text).toContain('"content":"Hello."')
    expect(text).toContain('"finish_reason":"stop"')
    const compat = await (await chat({ stream: true, stream_options: { include_usage: true } })).text()
    // Chunks that the gateway adds take their id from one of the provider's.
    const usage = compat.split('\n\n').find(each => each.includes('"total_tokens"')) ?? ''
    expect(usage).toContain('"id":"c1"')
  })

  test('validation sends the key like requests do and reports a rejected one', async () => {
    upstream.script(json(401, { error: { code: '401', message: 'Access denied' } }))
    const id = await app.addCredential(HOST, {
      api_key: 'key-3',
      base_url: upstream.baseUrl,
      options: { resource: 'mine' },
    })
    const checked = await app.manage('POST', `/v1/provider-credentials/${id}/validate`)
    expect(upstream.requests.at(-1)?.headers['api-key']).toBe('key-3')
    expect(checked.body.validation_error).toBeTruthy()
    await app.manage('DELETE', `/v1/provider-credentials/${id}`)
  })

  test('refuses to store a resource that is not a host name', async () => {
    const fields = { provider: HOST, name: 'x', api_key: 'k', options: { resource: 'evil.example/' } }
    const made = await app.manage(
      'POST',
      `/v1/environments/${app.developmentId}/provider-credentials`,
      fields,
    )
    expect([made.status, made.body.error?.param]).toEqual([400, 'options.resource'])
  })
})
