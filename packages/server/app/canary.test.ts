import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'

/**
 * A different secret in every field that accepts one, every path that can fail, and the log at level trace: no secret may
 * appear in a response, a log line, a metric or the audit log. Only the response that creates a key contains the key.
 */
const secret = (slot: string): string => `canary${slot}${randomBytes(12).toString('hex')}`
const providerKey = secret('provider')
const rotatedKey = secret('rotated')
const webhookHost = 'https://hooks.example.com/path'
const password = secret('password')
const awsSecret = secret('aws')
const sessionToken = secret('session')
const pem = secret('pem')
const masterKey = randomBytes(32)

let app: TestApp
let upstream: ScriptedUpstream
const log: string[] = []
const answers: string[] = []

beforeAll(async () => {
  app = await openTestApp(
    { LOG_LEVEL: 'trace', RIDEAU_MASTER_KEY: masterKey.toString('base64') },
    { bodyTimeoutMs: 60_000, graceMs: 1_000 },
    { write: line => log.push(line) },
  )
  upstream = await openScriptedUpstream({ scriptsLists: true })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

/** Makes a request and records the response with its headers. */
async function record(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  const text = await response.clone().text()
  answers.push(JSON.stringify([...response.headers]), text)
  return response
}

function manage(method: string, route: string, body?: unknown, key = app.managementKey): Promise<Response> {
  return record(app.controlUrl + route, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

function chat(body: unknown, key = app.secretKey, route = '/v1/chat'): Promise<Response> {
  return record(app.gatewayUrl + route, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

const MESSAGES = [{ role: 'user', content: 'hello' }]

/** Providers that repeat the received key, in every form of failure. */
async function failInEveryWay(): Promise<void> {
  const echo = { error: { message: `Incorrect API key provided: ${providerKey}`, code: 'invalid_api_key' } }
  const headers = { 'set-cookie': `k=${providerKey}`, 'x-api-key': providerKey, authorization: providerKey }
  for (const [status, body] of [
    [400, echo],
    [401, echo],
    [403, echo],
    [404, echo],
    [500, echo],
  ] as const) {
    upstream.script(json(status, body, headers))
    for (const stream of [false, true]) {
      for (const [route, asked] of [
        ['/v1/chat', { messages: MESSAGES }],
        ['/openai/v1/chat/completions', { messages: MESSAGES }],
        ['/openai/v1/responses', { input: 'hello' }],
        ['/anthropic/v1/messages', { messages: MESSAGES, max_tokens: 9 }],
      ] as const) {
        await chat({ model: 'openai/gpt-4o-mini', stream, ...asked }, app.secretKey, route)
      }
    }
    await chat({ model: 'openai/text-embedding-3-small', input: 'x' }, app.secretKey, '/v1/embeddings')
    const image = { model: 'openai/gpt-image-1', prompt: 'x' }
    await chat(image, app.secretKey, '/openai/v1/images/generations')
  }
  await failToExchange()
  upstream.script(completion('fine'))
  await chat({ model: 'openai/gpt-4o-mini', messages: MESSAGES })
  upstream.script(cutStream(chunk({ content: 'half' })))
  await chat({ model: 'openai/gpt-4o-mini', messages: MESSAGES, stream: true })
  upstream.script(json(401, echo, headers))
  await manage('POST', `/v1/provider-credentials/${credentialId}/validate`)
}

/** Keys that sign a request or are exchanged for a token, and are never sent themselves. */
async function failToExchange(): Promise<void> {
  const environment = `/v1/environments/${app.developmentId}`
  for (const fields of [
    {
      provider: 'bedrock',
      api_key: awsSecret,
      base_url: upstream.baseUrl,
      options: { region: 'us-east-1', access_key_id: 'AKIDEXAMPLE', session_token: sessionToken },
    },
    {
      provider: 'vertex',
      api_key: JSON.stringify({ client_email: 'a@b.example', private_key: pem, token_uri: upstream.baseUrl }),
      options: { project: 'p', location: 'global' },
    },
    { provider: 'anthropic', api_key: rotatedKey, base_url: upstream.baseUrl },
    { provider: 'gemini', api_key: rotatedKey, base_url: upstream.baseUrl },
  ]) {
    const made = await manage('POST', `${environment}/provider-credentials`, {
      name: fields.provider,
      ...fields,
    })
    const { id } = (await made.json()) as { id: string }
    // A provider that repeats the whole request.
    upstream.script((res, seen) => {
      const message = `refused: ${JSON.stringify(seen.headers)} ${seen.text}`
      json(403, { message, error: { message } })(res, seen)
    })
    await manage('POST', `/v1/provider-credentials/${id}/validate`)
    for (const stream of [false, true]) {
      for (const model of ['claude-sonnet-4-5', 'gemini-2.5-flash', 'amazon.nova-lite-v1:0']) {
        await chat({ model: `${fields.provider}/${model}`, messages: MESSAGES, stream })
      }
    }
  }
}

let credentialId = ''

async function writeAndRead(): Promise<void> {
  const environment = `/v1/environments/${app.developmentId}`
  const made = await manage('POST', `${environment}/provider-credentials`, {
    provider: 'openai',
    name: 'canary',
    api_key: providerKey,
    base_url: upstream.baseUrl,
  })
  credentialId = ((await made.json()) as { id: string }).id
  await manage('PATCH', `/v1/provider-credentials/${credentialId}`, { name: 'renamed' })
  await manage('PATCH', `/v1/provider-credentials/${credentialId}`, {
    base_url: 'https://elsewhere.example.com',
  })
  await manage('POST', `${environment}/provider-credentials`, {
    provider: 'openai',
    name: 'bad',
    api_key: rotatedKey,
    base_url: 7,
  })
  await manage('POST', `${environment}/provider-credentials`, `{"api_key":"${rotatedKey}","api_key":"x"}`)
  await manage('POST', `${environment}/provider-credentials`, `{"api_key":"${rotatedKey}"`)
  await manage('POST', `/v1/orgs/${app.orgId}/webhooks`, { url: webhookHost, events: ['budget.alert'] })
  await record(`${app.controlUrl}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@example.com', password }),
  })
  await record(`${app.controlUrl}/v1/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      setup_token: secret('setup'),
      email: 'x@example.com',
      password,
      organization: { name: 'x' },
    }),
  })
  for (const route of [
    `${environment}/provider-credentials`,
    `/v1/provider-credentials/${credentialId}`,
    `${environment}/keys`,
    `${environment}/logs?limit=100`,
    `/v1/orgs/${app.orgId}/audit-log?limit=100`,
    `/v1/orgs/${app.orgId}/webhooks`,
    `/v1/orgs/${app.orgId}/management-keys`,
    `/v1/orgs/${app.orgId}/usage`,
    '/v1/session',
    '/openapi.json',
  ]) {
    await manage('GET', route)
  }
}

function listSecrets(): [string, string][] {
  return Object.entries({
    providerKey,
    rotatedKey,
    password,
    awsSecret,
    sessionToken,
    pem,
    'secret key': app.secretKey,
    'management key': app.managementKey,
    'master key, base64': masterKey.toString('base64'),
    'master key, hex': masterKey.toString('hex'),
  })
}

test('no secret appears in a response, a log line, a metric or the audit log', async () => {
  await writeAndRead()
  await failInEveryWay()
  await writeAndRead()
  for (const key of [app.secretKey, app.managementKey]) {
    await chat({ model: 'nobody/none', messages: MESSAGES }, `${key}x`)
    await manage('GET', '/v1/orgs', undefined, `${key}x`)
    await chat('{', key)
  }
  await record(new URL('/metrics', app.metricsUrl).href, {})
  expect(answers.at(-1)).toContain('rideau_requests_total')
  // The log has lines, and the responses came from the intended paths.
  expect(log.length).toBeGreaterThan(5)
  expect(answers.join()).toContain('provider_auth_failed')
  expect(answers.join()).toContain('stream_interrupted')
  for (const [name, value] of listSecrets()) {
    expect(
      answers.filter(text => text.includes(value)),
      `${name} in an answer`,
    ).toEqual([])
    expect(
      log.filter(line => line.includes(value)),
      `${name} in the log`,
    ).toEqual([])
  }
})

test('no secret is stored in clear in any table', async () => {
  const { pool } = app.database
  const tables = await pool.query<{ name: string }>(
    'select quote_ident(tablename) as name from pg_tables where schemaname = current_schema()',
  )
  const texts: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ text: string }>(`select to_jsonb(t)::text as text from ${name} t`)
    for (const { text } of rows) texts.push(`${name}: ${text}`)
  }
  // The secrets were stored by the test above.
  const count = await pool.query('select from provider_credentials where options_cipher is not null')
  expect(count.rowCount).toBeGreaterThan(0)
  for (const [name, value] of listSecrets()) {
    // JSON has bytes in hex.
    const forms = [value, Buffer.from(value).toString('hex')]
    expect(
      texts.filter(text => forms.some(form => text.includes(form))),
      `${name} in a table`,
    ).toEqual([])
  }
})
