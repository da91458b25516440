import type { Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'

/** Connections that wait to be accepted. */
const BACKLOG = 4096

/**
 * Starts the listener and returns its URL. Rejects if the port is taken. `onError` gets later failures of the listener,
 * such as no file descriptor left to accept a connection; without a handler for that event the process would end.
 */
export async function listen(
  server: Server,
  host: string,
  port: number,
  onError: (error: Error) => void,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off('error', reject)
      server.on('error', onError)
      resolve()
    })
  })
  return urlOf(server.address() as AddressInfo)
}

/** Starts to accept on a port that another process has bound. */
export async function listenOn(
  server: Server,
  handle: object,
  onError: (error: Error) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(handle, BACKLOG, () => {
      server.off('error', reject)
      server.on('error', onError)
      resolve()
    })
  })
}

/**
 * Returns the URL of a plane from its settings. It is the same in every process, because one process signs a token with
 * this URL as its issuer and another one verifies it. Returns undefined for port 0: only the listener knows the port
 * then.
 */
export function urlBySettings(host: string, port: number): string | undefined {
  if (port === 0) return undefined
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return isIPv6(host) ? `http://[${host}]:${port}` : `http://${host}:${port}`
}

/** Returns the URL at which this machine reaches a listener; a listener on all addresses is reached by loopback. */
export function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
