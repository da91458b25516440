import { scryptSync } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { ErrorEnvelope } from '@rideau/llm/formats/shared/errors/error-envelope'
import pino from 'pino'
import { createKeyRow } from '../../control/keys/new-key.ts'
import { createManagementKeyRow } from '../../control/management-keys/new-management-key.ts'
import type { ControlAnswers } from '../../control/operation/control-answers.ts'
import { createProject, type ProjectTree } from '../../control/projects/new-project.ts'
import { toCredentialRow } from '../../control/provider-credentials/new-credential.ts'
import { type ControlDeps, type ControlLimits, createControlServer } from '../../control/server.ts'
import { createToken, hashToken } from '../../core/access/opaque-token.ts'
import type { Role } from '../../core/access/permissions.ts'
import { openSecretBox, type SecretBox } from '../../core/access/secret-box.ts'
import type { Clock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { SCOPES } from '../../core/tenancy/tenancy.ts'
import type { EgressPolicy } from '../../http/egress/egress.ts'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { type Hosts, LookupError } from '../../http/names/host-resolver.ts'
import { insertKey } from '../../storage/keys/keys.ts'
import { insertManagementKey } from '../../storage/keys/management-keys.ts'
import { insertProviderCredential } from '../../storage/models/provider-credentials.ts'
import type { KeyRow, ManagementKeyRow, OrganizationRow, UserRow } from '../../storage/schema.ts'
import { insertOrganization } from '../../storage/tenancy/organizations.ts'
import { insertMember } from '../../storage/users/members.ts'
import { insertSession } from '../../storage/users/sessions.ts'
import { insertUser } from '../../storage/users/users.ts'
import { type FreshDatabase, freshDatabase } from './database.ts'

export const SETUP_TOKEN = 'the-set-up-token-of-the-tests'

/** A response, with the type of the body that the caller expects. */
interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Body
  /** `201`, or for an error `400 invalid_request restrictions.allowed_models[0]`. */
  readonly outcome: string
}

export interface List<Record> {
  readonly data: Record[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

interface CallOptions {
  readonly key?: string | undefined
  /** A session's cookie, sent as the dashboard sends it. */
  readonly cookie?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent unchanged. */
  readonly raw?: string | Buffer
  readonly headers?: Record<string, string>
}

/** A signed-in user. */
export interface Person {
  readonly user: UserRow
  /** The `Cookie` header of a browser. */
  readonly cookie: string
}

/** The password of every person. */
export const PASSWORD = 'correct horse battery'

export interface Tenant extends ProjectTree {
  readonly organization: OrganizationRow
  /** Management keys in plain text, by role. */
  readonly keys: Readonly<Record<ManagementKeyRow['role'], string>>
  /** One member of each role. */
  readonly people: Readonly<Record<Role, Person>>
}

export interface ControlPlane {
  readonly url: string
  readonly port: number
  readonly database: FreshDatabase
  /** What callers have not read. */
  readonly answers: Pick<ControlAnswers, 'held' | 'dropped'>
  readonly secretBox: SecretBox
  readonly clock: Clock & { advance(ms: number): void }
  readonly newId: () => string
  /** Returns how often `afterWrite` was called. */
  readonly writes: () => number
  /** Returns the whole log. */
  readonly logged: () => string
  call<Body = unknown>(method: string, path: string, options?: CallOptions): Promise<Answer<Body>>
  /** Inserts an organization with a project and a management key of every role, without calling operations. */
  insertTenant(name: string): Promise<Tenant>
  insertPerson(email?: string): Promise<Person>
  /** Returns the member's id. */
  insertMember(orgId: string, person: Person, role: Role): Promise<string>
  insertApiKey(tenant: Tenant): Promise<{ row: KeyRow; text: string }>
  insertCredential(tenant: Tenant, apiKey: string): Promise<string>
  close(): Promise<void>
}

/** Knows this machine alone, so that no credential of a test reaches its provider. */
const localHosts: Hosts = {
  async resolve(hostname) {
    if (hostname !== 'localhost') throw new LookupError('unknown')
    return [{ address: '127.0.0.1', family: 4 }]
  },
}

function openLocalEgress(): EgressPolicy {
  return { ...openConfiguredEgress({ allowPrivate: true }), hosts: localHosts }
}

/** Starts the real control plane with a database of its own, on loopback. */
export async function openControlPlane(
  overrides: Partial<ControlDeps> = {},
  limits?: ControlLimits,
): Promise<ControlPlane> {
  const database = await freshDatabase()
  let now = Date.now()
  const clock = { now: () => now, advance: (ms: number) => void (now += ms) }
  const secretBox = openSecretBox(Buffer.alloc(32, 7), systemRandom)
  const newId = openIds(clock, systemRandom)
  const made = { clock, random: systemRandom, newId, secretBox }
  const lines: string[] = []
  let writes = 0
  let port = 0
  const app = await createControlServer(
    {
      db: database.db,
      ...made,
      log: pino({ level: 'info' }, { write: line => void lines.push(line) }),
      egress: openLocalEgress(),
      readMeters: undefined,
      production: false,
      baseUrl: () => `http://127.0.0.1:${port}`,
      gatewayUrl: () => 'http://127.0.0.1:1',
      gatewayPrefixes: { openai: '/openai' },
      setupToken: () => SETUP_TOKEN,
      trustedProxies: { has: () => false },
      afterWrite: async () => void writes++,
      getReadiness: () => ({ ready: true, reasons: [] }),
      ...overrides,
    },
    limits,
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
  const url = `http://127.0.0.1:${port}`

  async function insertPerson(email = `${newId()}@example.com`): Promise<Person> {
    const stamps = { created_at: new Date(now), updated_at: new Date(now) }
    const id = newId()
    const user = { id, email, name: null, password_hash: HASH, email_proven: false, ...stamps }
    await insertUser(database.db, user)
    const token = createToken(systemRandom)
    await insertSession(database.db, {
      id: newId(),
      user_id: id,
      hash: hashToken(token),
      created_at: new Date(now),
      last_used_at: new Date(now),
      expires_at: new Date(now + 30 * 24 * 3_600_000),
    })
    return { user, cookie: `rideau_session=${token}` }
  }

  async function joinAs(orgId: string, { user }: Person, role: Role): Promise<string> {
    const id = newId()
    await insertMember(database.db, {
      id,
      org_id: orgId,
      user_id: user.id,
      role,
      invite_email: null,
      invited_by: null,
      accepted_at: new Date(now),
      invite_hash: null,
      invite_expires_at: null,
      created_at: new Date(now),
      updated_at: new Date(now),
    })
    return id
  }

  return {
    url,
    port,
    database,
    answers: app.answers,
    secretBox,
    clock,
    newId,
    writes: () => writes,
    logged: () => lines.join(''),
    call: (method, path, options) => call(url, path, method, options ?? {}),
    insertPerson,
    insertMember: joinAs,
    async insertTenant(name) {
      const stamps = { created_at: new Date(now), updated_at: new Date(now) }
      const slug = `${name}-${newId()}`
      const organization = { id: newId(), name, slug, time_zone: 'UTC', ...stamps, deleted_at: null }
      await insertOrganization(database.db, organization)
      const project = { orgId: organization.id, name, slug: 'project', allowedOrigins: [] }
      const tree = await createProject(database.db, made, project)
      const keys = { viewer: '', developer: '', admin: '' }
      for (const role of ['viewer', 'developer', 'admin'] as const) {
        const key = createManagementKeyRow(made, {
          orgId: organization.id,
          name: role,
          role,
          expiresAt: null,
        })
        await insertManagementKey(database.db, key.row)
        keys[role] = key.text
      }
      const people = {
        viewer: await insertPerson(),
        developer: await insertPerson(),
        admin: await insertPerson(),
        owner: await insertPerson(),
      }
      for (const [role, person] of Object.entries(people)) {
        await joinAs(organization.id, person, role as Role)
      }
      return { organization, ...tree, keys, people }
    },
    async insertApiKey(tenant) {
      const key = createKeyRow(made, tenant.development, {
        kind: 'secret',
        name: 'inserted',
        scopes: SCOPES,
        allowedModels: null,
        allowedEndpoints: null,
        maxRequestCostNanoUsd: null,
        expiresAt: null,
      })
      await insertKey(database.db, key.row)
      return key
    },
    async insertCredential(tenant, apiKey) {
      const input = { provider: 'openai', name: 'inserted', apiKey, baseUrl: null, options: {}, weight: 1 }
      const row = toCredentialRow(made, tenant.development, input)
      await insertProviderCredential(database.db, row)
      return row.id
    },
    async close() {
      await app.close()
      await database.drop()
    },
  }
}

/** The hash of PASSWORD at the lowest cost, so that a hundred sign-ins are fast. */
const HASH = `$scrypt$ln=4,r=8,p=1$${'A'.repeat(22)}$${scryptSync(PASSWORD, Buffer.alloc(16), 32, { N: 16 })
  .toString('base64')
  .replace('=', '')}`

async function call<Body>(
  url: string,
  path: string,
  method: string,
  options: CallOptions,
): Promise<Answer<Body>> {
  const { key, cookie, body, raw, headers } = options
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(cookie === undefined ? {} : { cookie, 'x-rideau-csrf': '1', origin: url }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== ''
  const json = (isJson ? JSON.parse(text) : undefined) as Body & Partial<ErrorEnvelope>
  const { code, param } = json?.error ?? {}
  const outcome = [response.status, code, param].filter(part => part !== undefined && part !== null).join(' ')
  return { status: response.status, headers: response.headers, text, json, outcome }
}
