import type { Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'

/**
 * Begins to listen and gives the address. Rejects where the port is taken. `onError` is given later failures of the listener,
 * such as a process that has no file descriptor left to accept with; the event without a listener would end the process.
 */
export async function listen(
  server: Server,
  host: string,
  port: number,
  onError: (error: Error) => void,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject)
      server.on('error', onError)
      resolve()
    })
  })
  return urlOf(server.address() as AddressInfo)
}

/**
 * Where a plane is by its settings, the same in whichever process asks: the issuer of a token that one process signs is
 * what another one looks for. undefined: only the listener knows, since the port is any.
 */
export function urlBySettings(host: string, port: number): string | undefined {
  if (port === 0) return undefined
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return isIPv6(host) ? `http://[${host}]:${port}` : `http://${host}:${port}`
}

/** How this machine reaches a listener: one on every address is reached by loopback. */
export function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}
