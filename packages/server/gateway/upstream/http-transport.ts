import { type OnException, throwLater } from '../../core/on-exception.ts'
import {
  assertAllowedOrigin,
  createGuardedConnector,
  type EgressPolicy,
  type GuardedConnector,
} from '../../http/egress/egress.ts'
import { Connections } from './connections.ts'
import { HttpCall } from './http-call.ts'
import { PacedAborts } from './paced-aborts.ts'
import type { Transport } from './transport.ts'
import type { ConnectionOpening } from './transport-state.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** Shorter than the idle timeout of load balancers, so that requests rarely meet a connection that is closing. */
const KEEP_ALIVE_MS = 30_000

export interface HttpTransportOptions {
  /** Connections to providers at most, of the whole process. */
  readonly maxConnections: number
  /** See BoundedTlsOptions. */
  readonly isTrustedHost?: (hostname: string) => boolean
  readonly onException?: OnException
}

/** Calls providers over HTTP/1.1 under the egress policy. Uses undici's dispatcher, without fetch and web streams. */
export function openHttpTransport(
  policy: EgressPolicy,
  { maxConnections, isTrustedHost, onException = throwLater }: HttpTransportOptions,
): Transport {
  const connectGuarded = createGuardedConnector(policy, CONNECT_TIMEOUT_MS, isTrustedHost)
  const opening: ConnectionOpening = { owner: undefined }
  const aborts = new PacedAborts()
  const connect: GuardedConnector = (options, callback) => connectGuarded(options, callback, opening.owner)
  const connections = new Connections({
    maxConnections,
    // The gateway's ticker enforces timeouts. undici's are coarse and the same for all requests.
    client: { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS, connect },
    assertOrigin: origin => assertAllowedOrigin(origin, policy),
    onException,
  })
  return {
    call(request, handler, owner) {
      const call = new HttpCall(request, handler, owner, { connections, opening, aborts })
      connections.lend(call)
      return call
    },
    close: () => connections.destroy(),
  }
}
