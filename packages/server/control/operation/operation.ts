import type { CookieSerializeOptions } from '@fastify/cookie'
import type { Actor, MemberActor, Role } from '../../core/access/permissions.ts'
import type { SecretBox } from '../../core/access/secret-box.ts'
import type { Clock } from '../../core/clock.ts'
import type { FaultCode } from '../../core/fault-table.ts'
import type { Meter } from '../../core/limits/meter.ts'
import type { Random } from '../../core/random.ts'
import type { EgressPolicy } from '../../http/egress/egress.ts'
import type { Page } from '../../storage/page.ts'
import type { Db } from '../../storage/pool.ts'
import type { SpellTimeZone } from '../../storage/time-zones.ts'
import type { Caller } from './caller.ts'
import type { ControlAnswers } from './control-answers.ts'
import type { ControlRates } from './control-rates.ts'
import type { CsvFileShape, CsvPage } from './csv.ts'
import { uuidField } from './fields.ts'
import type { HostSlots } from './host-slots.ts'
import type { Passwords } from './password.ts'
import type { ResourceKind, Resources } from './resources.ts'
import type { ScopeSlots } from './scope-slots.ts'
import { z } from './zod.ts'

/** The dependencies of handlers. */
export interface Services {
  readonly db: Db
  readonly secretBox: SecretBox
  readonly clock: Clock
  readonly random: Random
  readonly newId: () => string
  /** Returns the one-time set-up token; undefined if none was created. */
  readonly setupToken: () => string | undefined
  /** The database without the tenant filter: for sign-in, and for a user across all organizations. */
  readonly wholeDb: Db
  readonly passwords: Passwords
  readonly rates: ControlRates
  readonly scopeSlots: ScopeSlots
  readonly hostSlots: HostSlots
  readonly answers: ControlAnswers
  readonly baseUrl: () => string
  /** The public URL of the gateway, which is the issuer of client tokens. */
  readonly gatewayUrl: () => string
  /** Where the gateway serves other formats, by their name: `openai` to `/openai`. */
  readonly gatewayPrefixes: Readonly<Record<string, string>>
  /** By which users can sign in, as it is configured; undefined: by none. */
  readonly oidcIssuer: string | undefined
  readonly spellTimeZone: SpellTimeZone
  /** The addresses that the control plane may call for a customer: identity issuers, webhooks. */
  readonly egress: EgressPolicy
  /** Reads the limits' counters; undefined in a process without a gateway, and in the transaction of a write. */
  readonly readMeters: ReadMeters | undefined
}

/**
 * Returns, in the order of the meters, the usage of ended requests and the reservations of running ones; undefined if the counters
 * cannot be read.
 */
export type ReadMeters = (
  meters: readonly Meter[],
  at: number,
) => Promise<readonly { readonly settled: number; readonly reserved: number }[] | undefined>

/**
 * Who may call: anyone, a user with a session, or an actor with at least the role. `of` names where the actor must have
 * the role: in the organization of the path's resource or, for `actor`, in any of the actor's own organizations (for
 * routes that show nothing else).
 */
export type Access = 'public' | 'session' | { readonly role: Role; readonly of: ResourceKind | 'actor' }

/** The path parameter that names each kind of resource. */
export const PARAM_OF = {
  org: 'orgId',
  project: 'projectId',
  environment: 'envId',
  key: 'keyId',
  provider_credential: 'id',
  model_alias: 'id',
  custom_model: 'id',
  log: 'requestId',
  member: 'memberId',
  management_key: 'keyId',
  limit: 'id',
  quota: 'id',
  budget: 'id',
  plan: 'id',
  end_user: 'id',
  webhook: 'id',
} as const satisfies Record<ResourceKind, string>

/** The parameters in a path such as `/v1/environments/{envId}/keys`. */
type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never

type ActorOf<A extends Access> = A extends 'public' ? undefined : A extends 'session' ? MemberActor : Actor
type ResourceOf<A extends Access> = A extends { readonly of: infer Kind extends ResourceKind }
  ? Resources[Kind]
  : undefined
type RoleOf<A extends Access> = A extends { readonly of: ResourceKind } ? Role : undefined

/** What a write adds to its audit entry. */
export interface AuditSubject {
  /** The organizations whose audit log gets the entry. Default: the organization of the resource. */
  readonly orgIds?: readonly string[]
  readonly resourceId?: string
  /** The user on whose behalf a public operation ran. */
  readonly actor?: { readonly kind: 'member'; readonly id: string }
}

/** What an operation can add to its response besides the body. */
export interface Answer {
  setCookie(name: string, value: string, options: CookieSerializeOptions): void
  /** Names the response as the repeated one of an earlier call with the same `Idempotency-Key`. */
  setReplayed(): void
}

/** The input of a handler. The resource and the role are resolved and checked before the handler runs. */
interface Call<Path extends string, A extends Access, Query, Body> {
  readonly services: Services
  readonly caller: Caller
  readonly answer: Answer
  readonly actor: ActorOf<A>
  readonly resource: ResourceOf<A>
  /** The actor's role in the resource's organization. */
  readonly role: RoleOf<A>
  readonly params: { readonly [Name in ParamName<Path>]: string }
  readonly query: Query
  readonly body: Body
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
type SuccessStatus = 200 | 201 | 204
type ResponseSchemas = { readonly [Status in SuccessStatus]?: z.ZodType }
type ResultOf<R extends ResponseSchemas> = R[keyof R] extends infer Schema extends z.ZodType
  ? z.output<Schema> extends undefined
    ? void
    : z.output<Schema>
  : never

interface Definition<
  Path extends string,
  A extends Access,
  Query extends z.ZodType,
  Body extends z.ZodType,
  R extends ResponseSchemas,
  Prepared,
> {
  /** The name of the operation, its OpenAPI id, the SDK's method and the audit event: `keys.create`. */
  readonly name: string
  readonly summary: string
  readonly access: A
  readonly query?: Query
  /** Absent: the route accepts no body, an empty one and `{}`. */
  readonly body?: Body
  /** The one success status, with the schema of its body. Default: 204 without a body. */
  readonly response?: R
  /** The rows of a list that is answered as CSV too, to `Accept: text/csv`. They have no nested fields. */
  readonly csvRow?: z.ZodObject
  /**
   * The whole of a list as one file, to `Accept: text/csv`. Each page is read in a transaction of its own, so that a caller who
   * reads slowly holds no connection.
   */
  readonly csvFile?: CsvFileShape & {
    page(call: Call<Path, A, z.output<Query>, z.output<Body>>, after: Page['after']): Promise<CsvPage>
  }
  /** The fault codes of this operation, besides those of every operation with the same access. */
  readonly faults?: readonly FaultCode[]
  /** True if the operation ends the caller's session, so that only the check before the handler asks whether the caller still has it. */
  readonly endsSession?: true
  /**
   * Throws if the caller may not do what the body asks for. Runs before everything else, and before the answer of an
   * earlier call with the same `Idempotency-Key` is repeated.
   */
  authorize?(call: Call<Path, A, z.output<Query>, z.output<Body>>): Promise<void>
  /**
   * Reads what the handler needs before it calls another host. It runs in a transaction of its own, which ends before the
   * handler starts, so a handler that calls the host before its first statement holds no connection meanwhile. Declare it
   * before `handle`, for type inference.
   */
  prepare?(call: Call<Path, A, z.output<Query>, z.output<Body>>): Promise<Prepared>
  handle(
    call: Call<Path, A, z.output<Query>, z.output<Body>> & { readonly prepared: Prepared },
  ): Promise<ResultOf<R>>
  /**
   * Returns the answer of a write with what may only be read once its change is in force: a counter that is opened before misses the
   * requests of the time between. Runs in a transaction of its own, and only in a process that has counters. Where it fails the answer
   * is `result`, and so is a repeated one.
   */
  complete?(call: Call<Path, A, z.output<Query>, z.output<Body>>, result: ResultOf<R>): Promise<ResultOf<R>>
  /**
   * Returns what the operation replaces or ends, for the audit log. The resource that the path names is known already;
   * this is for records below it, such as a project's federated auth.
   */
  before?(call: Call<Path, A, z.output<Query>, z.output<Body>>): Promise<unknown>
  /**
   * Completes the audit entry; `none` for an unsafe method that changes nothing. Required for a public operation and for
   * one on the actor itself, which must name the organizations whose log gets the entry.
   */
  readonly audit?:
    | 'none'
    | ((call: Call<Path, A, z.output<Query>, z.output<Body>>, result: ResultOf<R>) => AuditSubject)
}

/**
 * An operation as the server registers it. defineOperation has checked the types of its schemas; they are erased here.
 */
export interface Operation {
  readonly name: string
  readonly summary: string
  readonly method: Method
  readonly path: string
  readonly access: Access
  readonly params: z.ZodType
  readonly paramNames: readonly string[]
  readonly query: z.ZodType
  readonly body: z.ZodType | undefined
  readonly status: number
  readonly result: z.ZodType
  readonly csvRow: z.ZodObject | undefined
  readonly csvFile:
    | (CsvFileShape & { page(call: unknown, after: Page['after']): Promise<CsvPage> })
    | undefined
  readonly faults: readonly FaultCode[]
  readonly endsSession: boolean
  readonly authorize: ((call: unknown) => Promise<void>) | undefined
  readonly prepare: ((call: unknown) => Promise<unknown>) | undefined
  handle(call: unknown): Promise<unknown>
  readonly complete: ((call: unknown, result: unknown) => Promise<unknown>) | undefined
  readonly before: ((call: unknown) => Promise<unknown>) | undefined
  readonly audit: 'none' | ((call: unknown, result: unknown) => AuditSubject) | undefined
}

/** True for an operation that takes an `Idempotency-Key`: a POST that creates, of a caller with a credential. */
export function isCreating({ method, status, access }: Operation): boolean {
  return method === 'POST' && status === 201 && access !== 'public'
}

const noQuery = z.strictObject({})
const noContent = { 204: z.undefined() }

/**
 * Returns the operation of a route: its method, and its path as docs/openapi.json shows it, in which every parameter is a
 * UUID. Throws on import of its file if the definition contradicts itself.
 */
export function defineOperation<
  const Path extends string,
  const A extends Access,
  R extends ResponseSchemas = typeof noContent,
  Query extends z.ZodType = typeof noQuery,
  Body extends z.ZodType = z.ZodUndefined,
  Prepared = undefined,
>(route: `${Method} ${Path}`, definition: Definition<Path, A, Query, Body, R, Prepared>): Operation {
  const { name, access } = definition
  const [method, path] = route.split(' ') as [Method, Path]
  const paramNames = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1] as string)
  if (typeof access === 'object' && access.of !== 'actor' && !paramNames.includes(PARAM_OF[access.of])) {
    throw new Error(`${name}: its path names no {${PARAM_OF[access.of]}}`)
  }
  const [success, ...others] = Object.entries(definition.response ?? noContent)
  if (success === undefined || others.length > 0) throw new Error(`${name}: must have one success`)
  return {
    name,
    summary: definition.summary,
    method,
    path,
    access,
    params: z.strictObject(Object.fromEntries(paramNames.map(param => [param, uuidField]))),
    paramNames,
    query: definition.query ?? noQuery,
    body: definition.body,
    status: Number(success[0]),
    result: success[1],
    csvRow: definition.csvRow,
    csvFile: definition.csvFile as Operation['csvFile'],
    faults: definition.faults ?? [],
    endsSession: definition.endsSession ?? false,
    // The one place where the types meet: register-operations.ts builds the call from these schemas.
    authorize: definition.authorize as Operation['authorize'],
    prepare: definition.prepare as Operation['prepare'],
    handle: definition.handle as Operation['handle'],
    complete: definition.complete as Operation['complete'],
    before: definition.before as Operation['before'],
    audit: definition.audit as Operation['audit'],
  }
}
