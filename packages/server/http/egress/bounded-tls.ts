import { constants } from 'node:crypto'
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls'
import { buildConnector } from 'undici'
import type { LookupOwner } from '../names/lookup-slots.ts'
import { CountedStream, SlowHandshakeError } from './counted-stream.ts'
import type { SlowHandshakes } from './slow-handshakes.ts'

const KEEP_ALIVE_MS = 60_000

const CURVES = 'X25519:P-256:P-384:P-521'

/**
 * No Diffie-Hellman over whole numbers, neither DHE nor the groups ffdhe of TLS 1.3: a server chooses how long its numbers
 * are, and computing with 8,192 bits takes 0.1 s or more of the event loop. No second handshake on an open connection, which
 * nothing would count.
 */
const BOUNDED = {
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: hasHybridGroup() ? `X25519MLKEM768:${CURVES}` : CURVES,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} satisfies SecureContextOptions

/**
 * OpenSSL has X25519MLKEM768 since 3.5. To try it is no choice: the error of a context with an unknown group stays in OpenSSL's
 * queue, and the next private key that is read fails by it.
 */
function hasHybridGroup(): boolean {
  const [major = 0, minor = 0] = (process.versions.openssl ?? '').split('.').map(Number)
  return major > 3 || (major === 3 && minor >= 5)
}

/** `owner`: who connects. */
export type BoundedConnector = (
  target: buildConnector.Options,
  callback: buildConnector.Callback,
  owner: LookupOwner,
) => void

export interface BoundedTlsOptions {
  /** Bounds the connect, with its handshake. */
  readonly timeoutMs: number
  readonly lookup: LookupFunction
  readonly handshakes: SlowHandshakes
  /** True for a host that no tenant and no caller can run: its handshake is not counted, which saves 5 us for each chunk. */
  readonly isTrustedHost?: ((hostname: string) => boolean) | undefined
  /** Instead of Node's roots. */
  readonly ca?: string
}

/**
 * Returns a connector for undici with handshakes that take little of the event loop, whatever the server sends: OpenSSL
 * verifies each signature of a chain before it looks whether the chain is trusted.
 */
export function buildBoundedConnector(options: BoundedTlsOptions): BoundedConnector {
  const { timeoutMs, lookup, handshakes, isTrustedHost = () => false, ca } = options
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup,
    ...BOUNDED,
    ...(ca === undefined ? {} : { ca }),
  })
  return (target, callback, owner) => {
    if (target.protocol !== 'https:' || isTrustedHost(target.hostname)) return connect(target, callback)
    const port = Number(target.port) || 443
    const watch = handshakes.watch(owner, `${target.hostname}:${port}`)
    if (!watch.mayContinue()) return callback(new SlowHandshakeError(), null)
    const stream = new CountedStream(
      connectTcp({
        host: target.hostname,
        port,
        lookup,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      }),
      watch,
    )
    connect({ ...target, httpSocket: stream as Duplex as Socket }, (...[error, socket]) => {
      stream.endHandshake(error === null)
      if (error !== null) return callback(error, null)
      callback(null, socket)
    })
  }
}
