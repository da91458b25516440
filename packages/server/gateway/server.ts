import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { RequestError } from '@rideau/llm/formats/shared/request-error'
import { type Fault, Fault as FaultError, toFault } from '../core/fault.ts'
import { MAX_HEADER_BYTES } from '../http/client-error.ts'
import { inTurn } from '../http/in-turn.ts'
import { parseRequestId } from '../http/request-headers.ts'
import type { GatewayDeps } from './deps.ts'
import { answerBrokenRequest } from './edge/broken-requests.ts'
import { preflightHeaders } from './edge/cors.ts'
import { identify } from './edge/identify.ts'
import { sendFault, sendJson } from './edge/send.ts'
import { settle } from './records/settle.ts'
import { claimRequestId } from './request/claim-request-id.ts'
import { noFacts } from './request/facts.ts'
import { findMount } from './request/prefixes.ts'
import { canceledFault, Exchange, type RouteInfo } from './request/request-context.ts'
import { JWKS_PATH, serveKeySet } from './routes/key-set.ts'
import { listRoutes, openRouter, type Route, type RouteMatch } from './routes.ts'

/** Above what load balancers keep idle connections for, so that they close first. */
const KEEP_ALIVE_MS = 75_000
/** A backstop behind the body's own deadline of 60 s. */
const REQUEST_TIMEOUT_MS = 90_000

/** The data plane's server: `node:http` and a table of routes. */
export function createGatewayServer(deps: GatewayDeps): http.Server {
  const route = openRouter(listRoutes(deps.prefixes))
  /** The answer under way on each connection: nothing may be written into the middle of it. */
  const answers = new WeakMap<object, ServerResponse>()
  const server = http.createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: 30_000,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
      noDelay: true,
    },
    (req, res) => {
      answers.set(req.socket, res)
      const path = pathOf(req)
      const match = route(req.method ?? '', path)
      if (match !== undefined) {
        const x = openExchange(match.route, req, res, deps)
        inTurn(() => void serve(x, match, deps))
      } else serveUnrouted(path, req, res, deps)
    },
  )
  server.on('clientError', (error, socket) => {
    answerBrokenRequest(error, socket, answers.get(socket), deps)
  })
  return server
}

/** The raw path: never rebuilt from headers, never normalised, so that what is authorized is what runs. */
function pathOf(req: IncomingMessage): string {
  const url = req.url ?? '/'
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** The one edge of the data plane: every step's fault becomes an answer and a record here. */
async function serve(x: Exchange, match: RouteMatch, deps: GatewayDeps): Promise<void> {
  const facts = noFacts()
  try {
    // Before anything is known of the caller: a refusal that left a record would fill the journal further.
    if (match.route.isMetered && deps.isJournalFull()) throw journalFullFault()
    const identifying = identify(x, deps)
    if (identifying !== undefined) await identifying
    stopIfUnwanted(x)
    const environmentId = x.environment?.id ?? ''
    if (match.route.isMetered) {
      const claiming = claimRequestId(x, environmentId, deps)
      if (claiming !== undefined) await claiming
    }
    const serving = match.route.serve(x, facts, match.rest, deps)
    if (serving !== undefined) await serving
  } catch (thrown) {
    const fault = toRequestFault(thrown)
    if (match.route.isMetered) await settle(x, facts, { status: fault.status, fault }, deps)
    else if (fault.code === 'internal_error')
      deps.log.error({ err: fault.cause, requestId: x.requestId }, 'a request failed')
    sendFault(x, fault, deps.baseUrl())
  } finally {
    // What no step settled was never used.
    x.admission?.release()
    if (match.route.isMetered && x.environment !== undefined) deps.inFlight.remove(x.environment.id, x)
    deps.ticker.remove(x)
    deps.requestCounts.add(x.res.statusCode)
  }
}

/** Any thrown thing as a fault: formats throw RequestError, every step throws Fault, anything else is a bug. */
function toRequestFault(thrown: unknown): Fault {
  if (!(thrown instanceof RequestError)) return toFault(thrown)
  const { code, message, param, cause } = thrown
  return new FaultError(code, message, { cause, ...(param === undefined ? {} : { param }) })
}

function journalFullFault(): FaultError {
  const message = 'Usage cannot be recorded right now. Try again shortly.'
  return new FaultError('config_unavailable', message, { retryAfterSeconds: 5 })
}

function openExchange(route: Route, req: IncomingMessage, res: ServerResponse, deps: GatewayDeps): Exchange {
  const id = deps.newId()
  const requestId = parseRequestId(req.headers['x-request-id']) ?? id
  const x = new Exchange({ id, requestId, req, res, route, arrivedAt: deps.now() })
  deps.ticker.add(x)
  // The one event for "all sent" and "the caller left"; node's others lie in one case or another.
  res.once('close', () => {
    if (res.writableFinished) return
    x.isGone = true
    stopIfUnwanted(x)
  })
  return x
}

/** A caller that left ends its request, unless its environment finishes what was begun. Before it is known who it is: later. */
function stopIfUnwanted(x: Exchange): void {
  if (x.isGone && x.environment !== undefined && x.environment.onClientGone !== 'drain')
    x.stop(canceledFault())
}

const UNROUTED: Omit<RouteInfo, 'mount'> = { endpoint: 'none', need: { endpoint: null, scope: null } }

/** What needs no credential: health, preflight, and the answer that there is no such route. */
function serveUnrouted(path: string, req: IncomingMessage, res: ServerResponse, deps: GatewayDeps): void {
  const id = deps.newId()
  const requestId = parseRequestId(req.headers['x-request-id']) ?? id
  const route: RouteInfo = { ...UNROUTED, mount: findMount(path, deps.prefixes) }
  const x = new Exchange({ id, requestId, req, res, route, arrivedAt: deps.now() })
  // Load balancers probe by HEAD too.
  const isProbe = req.method === 'GET' || req.method === 'HEAD'
  if (isProbe && path === '/healthz') return sendJson(x, 200, { status: 'ok' })
  if (isProbe && path === '/readyz') {
    const { ready, reasons } = deps.isReady()
    return sendJson(x, ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', reasons })
  }
  if (req.method === 'GET' && path === JWKS_PATH) {
    void serveKeySet(x, deps)
    return
  }
  if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
    const requested = req.headers['access-control-request-headers']
    res.writeHead(204, ['X-Request-Id', requestId, ...preflightHeaders(req.headers.origin, requested)])
    res.end()
    return
  }
  const fault: Fault = new FaultError('route_not_found', 'There is no route for this method and path.')
  sendFault(x, fault, deps.baseUrl())
}
