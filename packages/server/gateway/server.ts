import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { NATIVE_MOUNT } from '@rideau/llm/formats/native/format'
import { RequestError } from '@rideau/llm/formats/shared/reading/request-error'
import { fromReservedField } from '@rideau/llm/formats/shared/requests/reserved-fields'
import { ReservedFieldError } from '@rideau/llm/upstream/authorize-request'
import { Fault, toFault } from '../core/fault.ts'
import { isSent } from '../http/answer/is-sent.ts'
import { writeHead } from '../http/answer/write-head.ts'
import { boundFraming } from '../http/body/bound-framing.ts'
import { ReceivedRequest } from '../http/body/received-request.ts'
import { batchInTick } from '../http/fairness/batch-in-tick.ts'
import { countRefused } from '../http/fairness/sliced-work.ts'
import { assertKnownQuery } from '../http/head/assert-known-query.ts'
import { ALL_HEADERS, checkHead, UNCHECKED_HEAD } from '../http/head/check-head.ts'
import { answerConnect, MAX_HEADER_BYTES } from '../http/head/client-error.ts'
import { parseRequestId } from '../http/head/request-headers.ts'
import { RequestLines } from '../http/head/request-lines.ts'
import { toReadinessAnswer } from '../http/metrics/readiness.ts'
import type { GatewayDeps } from './deps.ts'
import { answerBrokenRequest } from './edge/broken-requests.ts'
import { preflightHeaders } from './edge/cors.ts'
import { identify } from './edge/identify.ts'
import { sendJson } from './edge/send.ts'
import { openRouteSuggestions, type SuggestRoute } from './edge/suggest-route.ts'
import { endRequest, endWithFault, undoReservation } from './pipeline/end-request.ts'
import { openFailRequest } from './pipeline/fail-request.ts'
import { claimRequestId } from './request/claim-request-id.ts'
import { getMount, prefixOf } from './request/prefixes.ts'
import {
  canceledFault,
  type FailRequest,
  RequestContext,
  type RouteInfo,
  toIdentified,
} from './request/request-context.ts'
import { JWKS_PATH, serveKeySet } from './routes/key-set.ts'
import { listRoutes, openRouter, type Route, type RouteMatch } from './routes.ts'

/** Longer than load balancers keep idle connections, so that they close first. */
const KEEP_ALIVE_MS = 75_000
const NO_QUERY: readonly string[] = []
/** A second limit behind the body's own timeout of 60 s. */
const REQUEST_TIMEOUT_MS = 90_000

/** Returns the HTTP server of the data plane. */
export function createGatewayServer(deps: GatewayDeps): http.Server {
  const routes = listRoutes(deps.formats, deps.prefixes)
  const route = openRouter(routes)
  const mounts = [...deps.formats.mounts.values()]
  const suggest = openRouteSuggestions(
    routes,
    mounts.map(mount => prefixOf(mount, deps.prefixes)),
  )
  const { onException } = deps
  const fail = openFailRequest(deps)
  const onResponseError = (error: Error): void => onException(error, 'a response')
  // serve() handles exceptions of its steps.
  const onServeError = (error: unknown): void => onException(error, 'the edge of the gateway')
  const lines = new RequestLines((req, res) => {
    try {
      // A write after the end emits 'error', which would end the process without a listener.
      res.on('error', onResponseError)
      const path = pathOf(req)
      const refusal = checkHead(req)
      const match = refusal === undefined ? route(req.method ?? '', path) : undefined
      if (match === undefined) {
        const ctx = openUnrouted(path, req, res, fail, deps)
        batchInTick(() => void serveUnrouted(ctx, path, refusal, suggest, deps), onServeError)
      } else {
        const ctx = openContext(match.route, req, res, fail, deps)
        batchInTick(() => void serve(ctx, match, deps), onServeError)
      }
    } catch (error) {
      onException(error, 'the arrival of a request')
      res.destroy()
    }
  })
  const receive = (req: IncomingMessage, res: ServerResponse): void => lines.add(req, res)
  const server = http.createServer(
    {
      ...UNCHECKED_HEAD,
      IncomingMessage: ReceivedRequest,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: 30_000,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
      noDelay: true,
    },
    receive,
  )
  server.maxHeadersCount = ALL_HEADERS
  boundFraming(server, lines)
  // Node answers by itself without a listener. checkHead refuses these requests.
  server.on('checkExpectation', receive)
  const answerBroken = (error: Error, socket: Duplex): void => {
    try {
      answerBrokenRequest(error, socket, lines.latest(socket), deps)
    } catch (another) {
      onException(another, 'the answer to a broken request')
      socket.destroy()
    }
  }
  server.on('clientError', answerBroken)
  answerConnect(server, answerBroken)
  return server
}

/**
 * Returns the raw path. It is neither rebuilt from headers nor normalized, so that the path that is authorized is the
 * path that is served.
 */
function pathOf(req: IncomingMessage): string {
  const target = req.url ?? '/'
  // `*` and addresses with a host, which some proxies are asked for, name no route.
  const url = target.startsWith('/') ? target : `/${target}`
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** Serves a request. Turns every exception of its steps into an answer and a record. Never rejects. */
async function serve(ctx: RequestContext, match: RouteMatch, deps: GatewayDeps): Promise<void> {
  let isClaimed = false
  try {
    // Checked before identification, since the record of a refused request would also fill the journal.
    if (match.route.isMetered && deps.isJournalFull()) throw journalFullFault()
    const identifying = identify(ctx, deps)
    if (identifying !== undefined) await identifying
    stopIfUnwanted(ctx)
    if (match.route.isMetered) {
      const { environment } = ctx
      if (environment !== undefined && deps.isJournalFullFor(environment.orgId)) throw journalFullFault()
      isClaimed = true
      const claiming = claimRequestId(ctx, ctx.environment?.id ?? '', deps)
      if (claiming !== undefined) await claiming
    }
    if (match.route.mount === NATIVE_MOUNT) assertKnownQuery(ctx.req.url ?? '', match.route.query ?? NO_QUERY)
    if (match.rest === undefined)
      throw new Fault('request_validation_failed', 'The path is not a valid URL path.')
    const serving = match.route.serve(toIdentified(ctx), match.rest, deps)
    if (serving !== undefined) await serving
  } catch (thrown) {
    ctx.decide()
    if (thrown instanceof ReservedFieldError) undoReservation(ctx)
    const fault = toRequestFault(fromReservedField(thrown))
    // Identification found the environment and refused: the record must not have the id of another request.
    if (match.route.isMetered && !isClaimed && ctx.environment !== undefined)
      await claimRequestId(ctx, ctx.environment.id, deps)
    await endWithDelayedFault(ctx, fault, deps)
  } finally {
    endRequest(ctx, deps)
  }
}

/** Ends a request with a fault, after the delay of an answer to a request that came too fast. */
function endWithDelayedFault(ctx: RequestContext, fault: Fault, deps: GatewayDeps): Promise<void> {
  // A request that reached a provider was not refused, and faults from 500 on are not the caller's.
  if (fault.status < 500 && ctx.firstAttemptAt === undefined) countRefused(ctx)
  const delaying = deps.frontDoor.refusalDelay.delayFor(fault, ctx.startedAt)
  if (delaying === undefined) return endWithFault(ctx, fault, deps)
  return delaying.then(() => endWithFault(ctx, fault, deps))
}

/** Converts exceptions: formats throw RequestError, steps throw Fault, anything else is a bug. */
function toRequestFault(thrown: unknown): Fault {
  if (!(thrown instanceof RequestError)) return toFault(thrown)
  const { code, message, param, cause } = thrown
  return new Fault(code, message, { cause, ...(param === undefined ? {} : { param }) })
}

function journalFullFault(): Fault {
  const message = 'Usage cannot be recorded right now. Try again shortly.'
  return new Fault('config_unavailable', message, { retryAfterSeconds: 5 })
}

function openContext(
  route: Route,
  req: IncomingMessage,
  res: ServerResponse,
  fail: FailRequest,
  deps: GatewayDeps,
): RequestContext {
  const id = deps.newId()
  const requestId = parseRequestId(req.headers['x-request-id']) ?? id
  const ctx = new RequestContext({ id, requestId, req, res, route, arrivedAt: deps.now(), fail })
  deps.ticker.add(ctx)
  // 'close' follows both a complete answer and a disconnect. Other events do not fire in every case.
  res.on('close', () => {
    if (isSent(res)) return
    ctx.isGone = true
    try {
      stopIfUnwanted(ctx)
    } catch (error) {
      ctx.fail(error, 'the close of a connection')
    }
  })
  return ctx
}

/**
 * Stops the request of a disconnected caller, unless its environment's `on_client_gone` is `drain` or its usage is needed. Called again
 * after identification, when the environment is known.
 */
function stopIfUnwanted(ctx: RequestContext): void {
  const { isGone, environment, needsUsage, firstAttemptAt } = ctx
  if (!isGone || environment === undefined || environment.onClientGone === 'drain') return
  if (!needsUsage || firstAttemptAt === undefined) ctx.stop(canceledFault())
}

/** A probe's answer is of this moment. */
const NO_STORE = ['Cache-Control', 'no-store']

const UNROUTED: Omit<RouteInfo, 'mount'> = {
  path: '',
  endpoint: 'none',
  need: { endpoint: null, scope: null },
  isMetered: false,
  needsPermit: false,
}

function openUnrouted(
  path: string,
  req: IncomingMessage,
  res: ServerResponse,
  fail: FailRequest,
  deps: GatewayDeps,
): RequestContext {
  const id = deps.newId()
  const requestId = parseRequestId(req.headers['x-request-id']) ?? id
  const route: RouteInfo = {
    ...UNROUTED,
    mount: getMount(path, deps.formats.mounts.values(), deps.prefixes),
  }
  return new RequestContext({ id, requestId, req, res, route, arrivedAt: deps.now(), fail })
}

/** Serves what needs no credential: health checks, preflights, unknown routes and what checkHead refuses. Never rejects. */
async function serveUnrouted(
  ctx: RequestContext,
  path: string,
  refusal: Fault | undefined,
  suggest: SuggestRoute,
  deps: GatewayDeps,
): Promise<void> {
  try {
    if (refusal !== undefined) {
      ctx.res.shouldKeepAlive = false
      deps.frontDoor.countUnknown(ctx)
      throw refusal
    }
    answerUnrouted(ctx, path, suggest, deps)
  } catch (thrown) {
    await endWithDelayedFault(ctx, toFault(thrown), deps)
  }
}

function answerUnrouted(ctx: RequestContext, path: string, suggest: SuggestRoute, deps: GatewayDeps): void {
  const { req, res } = ctx
  // Load balancers also probe with HEAD.
  const isProbe = req.method === 'GET' || req.method === 'HEAD'
  if (isProbe && path === '/healthz') return sendJson(ctx, 200, { status: 'ok' }, NO_STORE)
  if (isProbe && path === '/readyz') {
    const { status, body } = toReadinessAnswer(deps.getReadiness())
    return sendJson(ctx, status, body, NO_STORE)
  }
  if (req.method === 'GET' && path === JWKS_PATH) {
    void serveKeySet(ctx, deps)
    return
  }
  if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
    const requested = req.headers['access-control-request-headers']
    writeHead(res, 204, ['X-Request-Id', ctx.requestId, ...preflightHeaders(req.headers.origin, requested)])
    res.end()
    return
  }
  // Probes and preflights are not counted: many may come from one address, and they cost as little as a refusal.
  deps.frontDoor.countUnknown(ctx)
  const meant = suggest(req.method ?? '', path)
  const hint = meant === undefined ? '' : ` Use ${meant}.`
  throw new Fault('route_not_found', `There is no route for this method and path.${hint}`)
}
