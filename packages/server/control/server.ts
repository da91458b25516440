import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { serializerCompiler } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { Clock, Random } from '../core/chance.ts'
import { toFault } from '../core/fault.ts'
import { type OnException, throwLater } from '../core/on-exception.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { TrustedProxies } from '../http/client-address.ts'
import { MAX_HEADER_BYTES } from '../http/client-error.ts'
import type { EgressPolicy } from '../http/egress.ts'
import { parseRequestId } from '../http/request-headers.ts'
import type { Db } from '../storage/pool.ts'
import { registerDocuments } from './documents.ts'
import { createHttpServer } from './http-server.ts'
import { registerOpenApi } from './open-api.ts'
import { answerFault, routeNotFound } from './operation/answer-fault.ts'
import { openControlRates } from './operation/control-rates.ts'
import type { ReadMeters } from './operation/operation.ts'
import { openPasswords } from './operation/password.ts'
import { readJson } from './operation/read-json.ts'
import { type HttpPart, toSchemaFault } from './operation/schema-fault.ts'
import { z } from './operation/zod.ts'
import { operations } from './operations.ts'
import { registerOperations } from './register-operations.ts'
import type { OidcSettings } from './session/oidc/oidc-client.ts'
import { registerOidc } from './session/oidc/register-oidc.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes no body: none, an empty one or `{}` under any content type. */
    bodyless?: boolean
    /** The route takes more than a public one may bring. */
    longBody?: boolean
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
  /** In production there is no OpenAPI document. */
  readonly production: boolean
  /** Where callers reach this host and the gateway; asked for per answer, because a port may be known late. */
  readonly baseUrl: () => string
  readonly gatewayUrl: () => string
  /** Whose `X-Forwarded-For` tells a caller's address. */
  readonly trustedProxies: TrustedProxies
  /** undefined: sign-in is by password alone. */
  readonly oidc?: OidcSettings | undefined
  /** undefined: no token was made. That set-up is over is decided by a user's existence, not by this. */
  readonly setupToken: () => string | undefined
  /** Awaited after every successful unsafe call, before its answer: lets the gateway's snapshots catch up. */
  readonly afterWrite: () => Promise<void>
  readonly readMeters: ReadMeters
  readonly isReady: () => { readonly ready: boolean; readonly reasons: readonly string[] }
}

export interface ControlLimits {
  /** A body that has not arrived after this long ends in 408 `request_timeout`. */
  readonly bodyTimeoutMs: number
  /** Of one credential; absent: the product's own. */
  readonly callsPerMinute?: number
}

/** The control plane, not yet listening. `close()` ends it and leaves the database to its owner. */
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
    // While it closes, what still comes in on an open connection is served: Fastify's own 503 is no envelope of ours.
    return503OnClosing: false,
    // A route has the methods that the contract gives it; any other is 404.
    exposeHeadRoutes: false,
    serverFactory: http.serverFactory,
    // No parameter can be longer than the header block: a long one meets the credential and then the UUID's form.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    frameworkErrors: (error, request, reply) => answerFault(error, request, reply, baseUrl),
    clientErrorHandler: http.answerBroken,
  })
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
  await app.register(cookie)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
    // Before the body, so that an unknown route never answers for the form of what was sent to it.
    if (request.is404) throw routeNotFound()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request: FastifyRequest) => {
    const { bodyless = false, longBody = false } = request.routeOptions.config
    return readJson(request.raw, limits.bodyTimeoutMs, { anyType: bodyless, long: longBody })
  })
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => data => {
    try {
      // Fastify validates an absent body as null; a null that was sent never comes so far (see read-json.ts).
      const parsed = z.safeParse(schema, data === null ? undefined : data)
      return parsed.success
        ? { value: parsed.data }
        : { error: toSchemaFault(parsed.error, (httpPart ?? 'body') as HttpPart) }
    } catch (error) {
      // A check or a transformation of ours: Fastify calls this from a callback, where nothing catches.
      return { error: toFault(error) }
    }
  })
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler((error, request, reply) => answerFault(error, request, reply, baseUrl))
  if (!deps.production) await registerOpenApi(app, deps)
  const services = {
    ...deps,
    wholeDb: deps.db,
    passwords: openPasswords(deps.random),
    rates: openControlRates(deps.clock, limits.callsPerMinute),
  }
  registerOperations(app, operations, services, deps.trustedProxies, deps.afterWrite)
  if (deps.oidc !== undefined) registerOidc(app, services, deps.oidc, deps.trustedProxies, deps.log)
  registerDocuments(app, deps)
  return app
}
