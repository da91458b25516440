import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { serializerCompiler } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { SecretBox } from '../core/access/secret-box.ts'
import type { BucketRate } from '../core/admission/token-bucket.ts'
import type { Clock } from '../core/clock.ts'
import { toFault } from '../core/fault.ts'
import { type OnException, throwLater } from '../core/on-exception.ts'
import type { Random } from '../core/random.ts'
import type { BodyMemory } from '../http/body/body-memory.ts'
import type { EgressPolicy } from '../http/egress/egress.ts'
import { checkHead } from '../http/head/check-head.ts'
import type { TrustedProxies } from '../http/head/client-address.ts'
import { MAX_HEADER_BYTES } from '../http/head/client-error.ts'
import { parseRequestId } from '../http/head/request-headers.ts'
import type { Readiness } from '../http/metrics/readiness.ts'
import type { Db } from '../storage/pool.ts'
import { openTimeZones } from '../storage/time-zones.ts'
import { registerDashboard } from './dashboard/register-dashboard.ts'
import { registerDocuments } from './documents.ts'
import { createHttpServer } from './http-server.ts'
import { registerOpenApi } from './open-api.ts'
import { answerFault, routeNotFound } from './operation/answer-fault.ts'
import { toCaller } from './operation/caller.ts'
import { compressAnswer } from './operation/compress-answer.ts'
import { ControlAnswers } from './operation/control-answers.ts'
import { ControlBodies } from './operation/control-bodies.ts'
import { openControlRates } from './operation/control-rates.ts'
import { HostSlots } from './operation/host-slots.ts'
import type { ReadMeters } from './operation/operation.ts'
import { openPasswords } from './operation/password.ts'
import { readJson } from './operation/read-json.ts'
import { type HttpPart, toSchemaFault } from './operation/schema-fault.ts'
import { ScopeSlots } from './operation/scope-slots.ts'
import { z } from './operation/zod.ts'
import { operations } from './operations.ts'
import { registerOperations } from './register-operations.ts'
import type { OidcSettings } from './session/oidc/oidc-client.ts'
import { registerOidc } from './session/oidc/register-oidc.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What callers have not read. */
    readonly answers: ControlAnswers
  }
  interface FastifyContextConfig {
    /** The route takes no body: an absent one, an empty one and `{}` are accepted, under any content type. */
    bodyless?: boolean
    /** Read by the OpenAPI document only. */
    hasOptionalBody?: boolean
    /** The route takes an `Idempotency-Key`. */
    creates?: boolean
    /** The route takes more than a public one may bring. */
    longBody?: boolean
    /** The route answers CSV too. */
    hasCsv?: boolean
    /** The route changes a record that has an entity tag. */
    takesIfMatch?: boolean
  }
}

export interface ControlDeps {
  readonly db: Db
  readonly secretBox: SecretBox
  readonly clock: Clock
  readonly random: Random
  readonly newId: () => string
  readonly log: Logger
  readonly onException?: OnException
  readonly egress: EgressPolicy
  /** True in production, where the OpenAPI document is not served. */
  readonly production: boolean
  /** The public URLs of this host and of the gateway. They are functions, because the port may be unknown at start. */
  readonly baseUrl: () => string
  readonly gatewayUrl: () => string
  /** Where the gateway serves other formats, by their name. */
  readonly gatewayPrefixes: Readonly<Record<string, string>>
  /** The folder with the built dashboard; undefined: this host serves the API alone. */
  readonly dashboardDir?: string | undefined
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: TrustedProxies
  /** undefined: users sign in by password only. */
  readonly oidc?: OidcSettings | undefined
  /** undefined: no token was created. Set-up is complete once a user exists, whatever this returns. */
  readonly setupToken: () => string | undefined
  /**
   * Awaited after every successful unsafe call, before its response: the gateway's snapshots are up to date when it
   * resolves.
   */
  readonly afterWrite: () => Promise<void>
  /** undefined: there is no gateway in this process. */
  readonly readMeters: ReadMeters | undefined
  readonly getReadiness: () => Readiness | Promise<Readiness>
}

export interface ControlLimits {
  /** A body that has not arrived after this time ends in 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
  /** Limit per credential. Default: the product's own. */
  readonly callsPerMinute?: number
  /** Calls without a valid credential, per address. Default: the product's own. */
  readonly addressRate?: BucketRate
  /** Bytes of bodies in memory at once. Default: the product's own. */
  readonly bodyBytes?: number
  /** Bytes of answers above 64 KiB that wait to be read. Default: the product's own. */
  readonly answerBytes?: number
}

/** Creates the control plane, which does not listen yet. `close()` ends it and leaves the database open. */
export async function createControlServer(
  deps: ControlDeps,
  limits: ControlLimits = { bodyTimeoutMs: 60_000 },
): Promise<FastifyInstance> {
  const { baseUrl, newId, onException = throwLater } = deps
  const http = createHttpServer({
    requestTimeoutMs: limits.bodyTimeoutMs + 5_000,
    newId,
    baseUrl,
    onException,
  })
  const loggerInstance: FastifyBaseLogger = deps.log
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: req => parseRequestId(req.headers['x-request-id']) ?? newId(),
    // Requests on open connections are still served while the server closes: Fastify's own 503 has no error envelope.
    return503OnClosing: false,
    // A route has only its documented methods; HEAD is 404 unless a route enables it.
    exposeHeadRoutes: false,
    serverFactory: http.serverFactory,
    // No parameter can exceed the header block. A long parameter therefore reaches the credential check and the UUID
    // check.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    frameworkErrors: (error, request, reply) => answerFault(error, request, reply, baseUrl),
    clientErrorHandler: http.answerBroken,
  })
  await setContentSecurityPolicy(app)
  await app.register(cookie)
  const answers = trackMemory(app, deps, limits)
  setValidation(app)
  app.setErrorHandler((error, request, reply) => answerFault(error, request, reply, baseUrl))
  if (!deps.production) registerOpenApi(app, deps)
  const services = { ...toServices(deps, limits), answers }
  registerOperations(app, operations, services, deps.trustedProxies, deps.afterWrite)
  if (deps.oidc !== undefined) registerOidc(app, services, deps.oidc, deps.trustedProxies, deps.log)
  registerDocuments(app, deps)
  registerDashboard(app, deps)
  return app
}

async function setContentSecurityPolicy(app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
  })
}

/** Counts each request's body and answer while they are in memory, after a check of its head. */
function trackMemory(app: FastifyInstance, deps: ControlDeps, limits: ControlLimits): ControlAnswers {
  const bodies = new ControlBodies(limits.bodyBytes)
  const answers = new ControlAnswers(deps.log, limits.answerBytes)
  app.decorate('answers', answers)
  const memories = new WeakMap<FastifyRequest, BodyMemory>()
  app.addHook('onRequest', async (request, reply) => {
    const { address } = toCaller(request, deps.trustedProxies)
    memories.set(request, bodies.open(address, reply.raw))
    answers.open(request, address, reply.raw)
    reply.header('X-Request-Id', request.id)
    const refusal = checkHead(request.raw)
    if (refusal !== undefined) {
      reply.raw.shouldKeepAlive = false
      throw refusal
    }
    // Checked before the body, so that an unknown route answers 404 whatever was sent.
    if (request.is404) throw routeNotFound()
  })
  app.addHook('onSend', (request, reply, payload) => packAndCount(answers, request, reply, payload))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest) => {
    const { bodyless = false, longBody = false } = request.routeOptions.config
    const memory = memories.get(request)
    const rules = { anyType: bodyless, long: longBody, memory, owner: answers.find(request)?.owner }
    return readJson(request.raw, limits.bodyTimeoutMs, rules)
  })
  return answers
}

function setValidation(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => data => {
    try {
      // Fastify passes an absent body as null. A null that was sent does not reach this point (see read-json.ts).
      const parsed = z.safeParse(schema, data === null ? undefined : data)
      return parsed.success
        ? { value: parsed.data }
        : { error: toSchemaFault(parsed.error, { schema, data, part: (httpPart ?? 'body') as HttpPart }) }
    } catch (error) {
      // One of the app's checks or transformations threw. Fastify calls this from a callback, where nothing catches.
      return { error: toFault(error) }
    }
  })
  app.setSerializerCompiler(serializerCompiler)
}

/** Compresses an answer and counts it until it is read. Throws where the caller leaves too many unread. */
async function packAndCount(
  answers: ControlAnswers,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const sent = await compressAnswer(request, reply, payload)
  // A text was made for this call; the dashboard's files are the same bytes for all. A CSV file counts itself.
  if (typeof payload !== 'string') return sent
  const fault = answers.find(request)?.acquire(Buffer.byteLength(sent as string | Buffer))
  if (fault === undefined) return sent
  reply.removeHeader('Content-Encoding')
  throw fault
}

/** Returns what the operations need. */
function toServices(deps: ControlDeps, limits: ControlLimits) {
  return {
    ...deps,
    wholeDb: deps.db,
    oidcIssuer: deps.oidc?.issuer,
    spellTimeZone: openTimeZones(deps.db),
    passwords: openPasswords(),
    rates: openControlRates(deps.clock, limits),
    scopeSlots: new ScopeSlots(),
    hostSlots: new HostSlots(),
  }
}
