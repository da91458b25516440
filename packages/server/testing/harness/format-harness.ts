import type { GatewayDeps } from '../../gateway/deps.ts'
import { openScriptedUpstream, type ScriptedUpstream } from '../fakes/scripted-upstream.ts'
import { openTestApp, TEST_LIMITS, type TestApp } from './app.ts'
import { findErrorFields, toFormatRequest } from './format-requests.ts'
import { FORMAT_TARGETS } from './format-targets.ts'
import { makePlaygroundToken } from './playground-token.ts'

/** The answer to a request, and the requests that reached the provider. */
export interface FormatAnswer {
  readonly status: number
  readonly code: string
  readonly param: string
  /** The header `X-Rideau-Dropped-Params`. */
  readonly dropped: string | null
  /** Bodies that reached the provider. */
  readonly sent: readonly Record<string, unknown>[]
}

/** An app with a credential for one provider of each format. All providers are the same scripted upstream. */
export interface FormatHarness {
  readonly app: TestApp
  readonly upstream: ScriptedUpstream
  /** A client token of the development environment. */
  readonly token: string
  /** Sends the smallest request of a server-side format to a target, with extra fields. `key` defaults to the secret key. */
  send(surface: string, target: string, fields: Record<string, unknown>, key?: string): Promise<FormatAnswer>
  /** Patches the development environment. */
  set(fields: Record<string, unknown>): Promise<void>
  close(): Promise<void>
}

export const PROVIDERS = ['groq', 'openai', 'anthropic', 'gemini', 'cohere', 'ollama', 'bedrock']

/** `onDeps` receives the dependencies of the gateway. */
export async function openFormatHarness(onDeps?: (deps: GatewayDeps) => void): Promise<FormatHarness> {
  const app = await openTestApp({}, onDeps === undefined ? TEST_LIMITS : { ...TEST_LIMITS, onDeps })
  const upstream = await openScriptedUpstream()
  for (const provider of PROVIDERS) {
    const options = provider === 'bedrock' ? { options: { region: 'eu-west-1' } } : {}
    await app.addCredential(provider, { api_key: 'key', base_url: upstream.baseUrl, ...options })
  }
  return {
    app,
    upstream,
    token: await makePlaygroundToken(app),
    async send(surface, target, fields, key = app.secretKey) {
      const [model, answer] = FORMAT_TARGETS[target] as (typeof FORMAT_TARGETS)[string]
      upstream.script(answer)
      const before = upstream.requests.length
      const { route, body } = toFormatRequest(surface, model, fields)
      const response = await app.call(route, body, { key })
      const error = findErrorFields(JSON.parse(await response.text()))
      const dropped = response.headers.get('x-rideau-dropped-params')
      const sent = upstream.requests.slice(before).map(({ body: each }) => each)
      return { status: response.status, ...error, dropped, sent }
    },
    async set(fields) {
      const { status } = await app.manage('PATCH', `/v1/environments/${app.developmentId}`, fields)
      if (status !== 200) throw new Error(`the environment was not patched: ${status}`)
    },
    async close() {
      await upstream.close()
      await app.close()
    },
  }
}
