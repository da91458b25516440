import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { type App, openApp } from '../../app/app.ts'
import type { AppOverrides } from '../../app/parts/app-parts.ts'
import { parseConfig } from '../../app/settings/settings.ts'
import { type Connection, toClientConfig } from '../../storage/connection.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'

/** A complete app for a test: real sockets, a database of its own, set up as by a user. */
export interface TestApp {
  readonly gatewayUrl: string
  readonly controlUrl: string
  readonly metricsUrl: string
  readonly database: FreshDatabase
  /** The key that set-up shows once. */
  readonly managementKey: string
  /** The secret key of the development environment. */
  readonly secretKey: string
  readonly orgId: string
  readonly projectId: string
  readonly developmentId: string
  readonly productionId: string
  /** Calls the control plane with the management key. */
  manage(method: string, route: string, body?: unknown): Promise<Answer>
  /** Calls the gateway with the development secret key or the given one. A body that is not text or bytes is sent as JSON. */
  call(
    route: string,
    body: unknown,
    options?: { key?: string; headers?: Record<string, string> },
  ): Promise<Response>
  addCredential(provider: string, fields: Record<string, unknown>, environmentId?: string): Promise<string>
  createKey(fields: Record<string, unknown>, environmentId?: string): Promise<{ id: string; key: string }>
  /** Resolves with the log record of a request. Rejects after 10 s without one. */
  findLog(requestId: string): Promise<Record<string, any>>
  /** Closes the app and keeps its database for the test to read. */
  stop(): Promise<void>
  close(): Promise<void>
}

export interface Answer {
  readonly status: number
  // biome-ignore lint: JSON of any route
  readonly body: any
  readonly headers: Headers
}

export const SETUP_TOKEN = 'a set-up token for tests'

/** Requests end fast when a test's app closes. */
export const TEST_OVERRIDES: AppOverrides = { bodyTimeoutMs: 60_000, graceMs: 1_000 }

/** An app that runs and is not set up. */
export interface NewApp {
  readonly app: App
  readonly database: FreshDatabase
  /** Closes the app and keeps its database for the test to read. */
  stop(): Promise<void>
  close(): Promise<void>
}

/** Starts an app without setting it up. */
export async function openNewApp(
  env: Record<string, string> = {},
  overrides: AppOverrides = TEST_OVERRIDES,
  logTo?: { write(line: string): void },
): Promise<NewApp> {
  const database = await freshDatabase()
  const dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-app-'))
  const config = parseConfig({
    DATABASE_URL: toUrl(database.connection),
    RIDEAU_DATA_DIR: dataDir,
    RIDEAU_MASTER_KEY: randomBytes(32).toString('base64'),
    RIDEAU_SETUP_TOKEN: SETUP_TOKEN,
    RIDEAU_WORKERS: '1',
    RIDEAU_GATEWAY_PORT: '0',
    RIDEAU_CONTROL_PORT: '0',
    RIDEAU_METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
    // No test asks Google's host.
    RIDEAU_ANDROID_REVOCATION_LIST: 'off',
    // Tests with thousands of random inputs send them by one credential and from one address.
    RIDEAU_KEY_REQUESTS_PER_SECOND: '100000',
    RIDEAU_END_USER_REQUESTS_PER_SECOND: '100000',
    RIDEAU_ADDRESS_REQUESTS_PER_SECOND: '100000',
    ...env,
  })
  const app: App = await openApp(
    config,
    { gateway: true, control: true },
    logTo === undefined ? pino({ level: config.logLevel }) : pino({ level: config.logLevel }, logTo),
    overrides,
  )
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= app.close().then(() => {})
    return stopping
  }
  return {
    app,
    database,
    stop,
    async close() {
      await stop()
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Starts an app and sets it up. `logTo` receives every line of the log at the level that `env` sets. */
export async function openTestApp(
  env: Record<string, string> = {},
  overrides: AppOverrides = TEST_OVERRIDES,
  logTo?: { write(line: string): void },
): Promise<TestApp> {
  const { app, database, stop, close } = await openNewApp(env, overrides, logTo)
  const { gatewayUrl, controlUrl, metricsUrl } = app as { [K in keyof App]: NonNullable<App[K]> }
  const setUp = await send(`${controlUrl}/v1/setup`, 'POST', undefined, {
    setup_token: SETUP_TOKEN,
    email: 'owner@example.com',
    password: 'a long enough password',
    organization: { name: 'Test' },
  })
  if (setUp.status !== 201) throw new Error(`set-up failed: ${JSON.stringify(setUp.body)}`)
  const managementKey = setUp.body.management_key.key as string
  const secretKey = setUp.body.secret_key.key as string
  const environments = setUp.body.environments as { id: string; name: string }[]
  const idOf = (name: string): string => environments.find(environment => environment.name === name)?.id ?? ''
  const developmentId = idOf('development')
  const projectId = setUp.body.project.id as string
  const manage: TestApp['manage'] = (method, route, body) =>
    send(controlUrl + route, method, managementKey, body)
  return {
    gatewayUrl,
    controlUrl,
    metricsUrl,
    database,
    managementKey,
    secretKey,
    orgId: setUp.body.organization.id,
    projectId,
    developmentId,
    productionId: idOf('production'),
    manage,
    call: (route, body, { key = secretKey, headers = {} } = {}) =>
      fetch(gatewayUrl + route, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body:
          typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      }),
    async addCredential(provider, fields, environmentId = developmentId) {
      const made = await manage('POST', `/v1/environments/${environmentId}/provider-credentials`, {
        provider,
        name: provider,
        ...fields,
      })
      if (made.status !== 201) throw new Error(`no credential: ${JSON.stringify(made.body)}`)
      return made.body.id
    },
    async createKey(fields, environmentId = developmentId) {
      const made = await manage('POST', `/v1/environments/${environmentId}/keys`, {
        kind: 'secret',
        name: 'test',
        ...fields,
      })
      if (made.status !== 201) throw new Error(`no key: ${JSON.stringify(made.body)}`)
      return { id: made.body.id, key: made.body.key }
    },
    async findLog(requestId) {
      for (const end = Date.now() + 10_000; Date.now() < end; ) {
        const found = await manage('GET', `/v1/logs/${requestId}`)
        if (found.status === 200) return found.body
        await new Promise(resolve => setTimeout(resolve, 25))
      }
      throw new Error(`no log of ${requestId} in 10 s`)
    },
    stop,
    close,
  }
}

async function send(url: string, method: string, key: string | undefined, body?: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    body: text === '' ? undefined : JSON.parse(text),
    headers: response.headers,
  }
}

/** Returns a connection as the URL that the settings accept. The folder of a socket becomes a query parameter. */
export function toUrl(connection: Connection): string {
  if (typeof connection === 'string') return connection
  const { host, port, user, database } = toClientConfig(connection) as Record<string, string | number>
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
}
