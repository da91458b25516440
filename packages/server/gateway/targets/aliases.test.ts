import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  cutStream,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  streamedCompletion,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let first: ScriptedUpstream
let second: ScriptedUpstream
beforeAll(async () => {
  app = await openTestApp()
  first = await openScriptedUpstream()
  second = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-first', base_url: first.baseUrl })
  await app.addCredential('custom-b', { api_key: 'sk-second', base_url: second.baseUrl })
})
afterAll(async () => {
  await first.close()
  await second.close()
  await app.close()
})

const messages = [{ role: 'user', content: 'Say hello.' }]
const A = 'openai/gpt-4o-mini'
const B = 'custom-b/large'

let made = 0
async function createAlias(targets: object[], fields: object = {}): Promise<string> {
  const alias = `alias-${made++}`
  const body = { alias, strategy: 'priority', targets, ...fields }
  const answer = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return alias
}

async function call(model: string, fields: object = {}, key = app.secretKey) {
  const response = await app.call('/v1/chat', { model, messages, ...fields }, { key })
  const header = (name: string) => response.headers.get(`x-rideau-${name}`)
  const body: any = response.headers.get('content-type')?.startsWith('application/json')
    ? await response.json()
    : await response.text()
  const requestId = response.headers.get('x-request-id') ?? ''
  return {
    status: response.status,
    body,
    requestId,
    code: body.error?.code as string | undefined,
    headers: [header('provider'), header('model'), header('attempts')],
  }
}

describe('fallback', () => {
  test('answers with the next target, and names it in headers, body, cost and log', async () => {
    const alias = await createAlias([{ model: A }, { model: B }])
    first.script(json(500, {}))
    second.script(completion('Hello from the second.'))
    const { status, body, headers, requestId } = await call(alias)
    expect([status, headers]).toEqual([200, ['custom-b', B, '2']])
    // The second target's price is unknown, and the first target's price must not be used for it.
    expect(body).toMatchObject({ model: B, provider: 'custom-b', cost_usd: null })
    expect(second.requests.at(-1)).toMatchObject({
      body: { model: 'large' },
      headers: { authorization: 'Bearer sk-second' },
    })
    const log = await app.findLog(requestId)
    expect(log).toMatchObject({ model_requested: alias, model: B, provider: 'custom-b' })
    expect(log.attempts.map((attempt: any) => [attempt.target, attempt.status])).toEqual([
      [A, 500],
      [B, 200],
    ])
  })

  test('falls back in streams until the first delivered token', async () => {
    const alias = await createAlias([{ model: A }, { model: B }])
    first.script(cutStream())
    second.script(streamedCompletion('Hello', ' there'))
    const { status, body, headers } = await call(alias, { stream: true })
    expect([status, headers]).toEqual([200, ['custom-b', B, '2']])
    expect(body).toContain(' there')
    expect(body).toContain(`"model":"${B}"`)
  })

  test('makes at most three attempts and returns the last error', async () => {
    const failing = [{ model: A }, { model: B }, { model: 'gpt-4o' }]
    const reached = await createAlias([...failing, { model: 'sandbox/echo' }])
    first.script(json(500, {}))
    second.script(json(529, {}))
    expect((await call(reached)).headers).toEqual(['sandbox', 'sandbox/echo', '4'])
    const missed = await createAlias([...failing, { model: 'custom-b/small' }, { model: 'sandbox/echo' }])
    const { code, requestId } = await call(missed)
    expect(code).toBe('provider_overloaded')
    expect((await app.findLog(requestId)).attempts).toHaveLength(4)
  })

  test('makes no further attempt if the same body would fail again', async () => {
    const alias = await createAlias([{ model: A }, { model: B }])
    first.script(json(400, { error: { message: 'bad', type: 'invalid_request_error' } }))
    const seen = second.requests.length
    expect((await call(alias)).code).toBe('provider_rejected')
    expect(second.requests).toHaveLength(seen)
  })

  test('max_retries limits the attempts at each target, timeout_ms the time of each', async () => {
    const once = await createAlias([{ model: A, max_retries: 0 }])
    first.script(json(500, {}))
    const seen = first.requests.length
    expect((await call(once)).code).toBe('provider_unavailable')
    expect(first.requests).toHaveLength(seen + 1)
    const impatient = await createAlias([{ model: A, timeout_ms: 1000 }, { model: B }])
    first.script(() => {})
    second.script(completion('In time.'))
    expect((await call(impatient)).headers).toEqual(['custom-b', B, '2'])
  })
})

describe('the choice of the target', () => {
  test('skips an unusable target without an attempt', async () => {
    const alias = await createAlias([
      { model: 'groq/llama-3.3-70b-versatile' },
      { model: 'unheard-of' },
      { model: B },
    ])
    second.script(completion('Hello.'))
    expect((await call(alias)).headers).toEqual(['custom-b', B, '1'])
  })

  test('skips a target that lacks a required capability', async () => {
    const alias = await createAlias([{ model: 'sandbox/json' }, { model: B }])
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect((await call(alias)).headers[1]).toBe('sandbox/json')
    expect((await call(alias, { tools })).headers[1]).toBe(B)
  })

  test('returns 404 no_eligible_target if no target is usable', async () => {
    const missing = await createAlias([{ model: 'groq/llama-3.3-70b-versatile' }])
    expect(await call(missing)).toMatchObject({ status: 404, code: 'no_eligible_target' })
    const incapable = await createAlias([{ model: 'sandbox/json' }])
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect(await call(incapable, { tools })).toMatchObject({ status: 404, code: 'no_eligible_target' })
  })

  test('no_eligible_target names each target with its reason, to a client token only the reasons', async () => {
    const alias = await createAlias([
      { model: 'groq/llama-3.3-70b-versatile' },
      { model: 'unheard-of' },
      { model: 'sandbox/json' },
    ])
    const body = {
      model: alias,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'f' } }],
    }
    const messageOf = async (key?: string): Promise<string> => {
      const response = await app.call('/v1/chat', body, key === undefined ? {} : { key })
      const { error } = (await response.json()) as { error: { code: string; message: string } }
      expect(error.code).toBe('no_eligible_target')
      return error.message
    }
    const toKey = await messageOf()
    expect(toKey).toMatch(/groq\/llama-3\.3-70b-versatile: provider_credential_missing, .*groq/)
    expect(toKey).toMatch(/unheard-of: model_not_found, /)
    expect(toKey).toMatch(/sandbox\/json: model_missing_capability, /)
    const minted = await app.call('/v1/client-tokens', { end_user: { id: 'u' }, scopes: ['ai.chat'] })
    const { token } = (await minted.json()) as { token: string }
    const toToken = await messageOf(token)
    expect(toToken).toContain('target 1: provider_credential_missing')
    expect(toToken).toContain('target 3: model_missing_capability')
    expect(toToken).not.toMatch(/groq|unheard|sandbox/)
  })

  test("lowest_cost chooses the cheapest target by the environment's prices", async () => {
    const alias = await createAlias([{ model: B }, { model: 'sandbox/echo' }, { model: A }], {
      strategy: 'lowest_cost',
    })
    first.script(completion('Hello.'))
    expect((await call(alias)).headers[1]).toBe(A)
    const path = `/v1/environments/${app.developmentId}/custom-models`
    const pricing = { input_usd_per_mtok: 0, output_usd_per_mtok: 0.01 }
    const { body } = await app.manage('POST', path, { model: B, capabilities: ['chat'], pricing })
    expect((await call(alias)).headers[1]).toBe(B)
    await app.manage('DELETE', `/v1/custom-models/${body.id}`)
  })

  test('weighted gives no request to a weight of 0', async () => {
    const alias = await createAlias(
      [
        { model: A, weight: 0 },
        { model: B, weight: 5 },
      ],
      { strategy: 'weighted' },
    )
    second.script(completion('Hello.'))
    for (let n = 0; n < 10; n++) expect((await call(alias)).headers).toEqual(['custom-b', B, '1'])
  })

  test('weighted draws the target of each first turn by weight, and keeps later turns at one target', async () => {
    const targets = [
      { model: 'custom-b/light', weight: 1 },
      { model: 'custom-b/heavy', weight: 3 },
    ]
    const alias = await createAlias(targets, { strategy: 'weighted' })
    second.script(completion('Hello.'))
    const targetOf = async (fields: object): Promise<string | null> =>
      (await call(alias, fields)).headers[1] ?? null
    const user = (content: string) => ({ role: 'user', content })
    const answer = { role: 'assistant', content: 'yes?' }
    const kept: (string | null)[] = []
    for (let n = 0; n < 16; n++) {
      const messages = [user(`question ${n}`), answer, user('more')]
      const target = await targetOf({ messages })
      expect(await targetOf({ messages: [...messages, answer, user('and more')] })).toBe(target)
      kept.push(target)
    }
    const heavy = kept.filter(target => target === 'custom-b/heavy').length
    expect(heavy).toBeGreaterThan(kept.length / 2)
    expect(heavy).toBeLessThan(kept.length)
    const drawn = new Set<string | null>()
    for (let n = 0; n < 60; n++) drawn.add(await targetOf({ messages: [user('question')], end_user: 'ann' }))
    expect(drawn).toEqual(new Set(['custom-b/heavy', 'custom-b/light']))
    const asAnn = (content: string) =>
      targetOf({ messages: [user(content), answer, user('more')], end_user: 'ann' })
    const own = await asAnn('one')
    for (const content of ['two', 'three', 'four']) expect(await asAnn(content)).toBe(own)
  })

  test('lowest_latency orders targets by the latencies of earlier attempts', async () => {
    const alias = await createAlias([{ model: A }, { model: B }], { strategy: 'lowest_latency' })
    first.script(json(500, {}))
    second.script(completion('Hello.'))
    // Unmeasured targets go by priority. A failed target counts as the slowest from then on.
    expect((await call(alias)).headers).toEqual(['custom-b', B, '2'])
    expect((await call(alias)).headers).toEqual(['custom-b', B, '1'])
    // Streams are measured apart from plain answers.
    first.script(streamedCompletion('Hello.'))
    expect((await call(alias, { stream: true })).headers).toEqual(['openai', A, '1'])
  })
})

describe('rights', () => {
  test('a key that lists the alias reaches its targets only through it', async () => {
    const alias = await createAlias([{ model: 'sandbox/echo' }])
    const { key } = await app.createKey({ restrictions: { allowed_models: [alias] } })
    expect((await call(alias, {}, key)).status).toBe(200)
    expect((await call('sandbox/echo', {}, key)).code).toBe('model_not_allowed')
    const { key: other } = await app.createKey({ restrictions: { allowed_models: ['sandbox/echo'] } })
    expect((await call(alias, {}, other)).code).toBe('model_not_allowed')
  })

  test("applies the environment's list of models to the targets", async () => {
    const environment = `/v1/environments/${app.developmentId}`
    const both = await createAlias([{ model: 'sandbox/echo' }, { model: 'sandbox/json' }])
    const one = await createAlias([{ model: 'sandbox/echo' }])
    await app.manage('PATCH', environment, { allowed_models: ['sandbox/json', one] })
    expect((await call(both)).headers[1]).toBe('sandbox/json')
    expect((await call(one)).code).toBe('model_not_allowed')
    await app.manage('PATCH', environment, { allowed_models: null })
    expect((await call(one)).status).toBe(200)
  })

  test('applies a change or a removal from the next request on', async () => {
    const alias = await createAlias([{ model: 'sandbox/echo' }])
    expect((await call(alias)).headers[1]).toBe('sandbox/echo')
    const path = `/v1/environments/${app.developmentId}/model-aliases`
    const { body } = await app.manage('GET', path)
    const { id } = body.data.find((each: any) => each.alias === alias)
    await app.manage('PATCH', `/v1/model-aliases/${id}`, { targets: [{ model: 'sandbox/json' }] })
    expect((await call(alias)).headers[1]).toBe('sandbox/json')
    await app.manage('DELETE', `/v1/model-aliases/${id}`)
    expect((await call(alias)).code).toBe('model_not_found')
  })
})

describe('the model list', () => {
  const list = async (key = app.secretKey): Promise<any[]> => {
    const response = await fetch(`${app.gatewayUrl}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    })
    return ((await response.json()) as any).data
  }

  test('lists the alias with its usable targets, to keys that may use it', async () => {
    const alias = await createAlias([{ model: 'sandbox/json' }, { model: 'groq/none' }, { model: 'echo' }])
    const listed = (await list()).find(({ id }) => id === alias)
    expect(listed).toMatchObject({
      kind: 'alias',
      provider: null,
      pricing: null,
      targets: ['sandbox/json', 'sandbox/echo'],
    })
    const { key } = await app.createKey({ restrictions: { allowed_models: ['sandbox/*'] } })
    expect((await list(key)).some(({ kind }) => kind === 'alias')).toBe(false)
    const { key: narrow } = await app.createKey({ restrictions: { allowed_models: [alias] } })
    expect((await list(narrow)).map(({ id }) => id)).toEqual([alias])
    const one = await fetch(`${app.gatewayUrl}/openai/v1/models/${alias}`, {
      headers: { authorization: `Bearer ${narrow}` },
    })
    expect(await one.json()).toMatchObject({ id: alias, object: 'model' })
  })
})
