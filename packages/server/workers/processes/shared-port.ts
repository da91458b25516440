import { lookup } from 'node:dns/promises'
import net, { isIP } from 'node:net'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { getSystemErrorName } from 'node:util'

/** Node's own handle of a bound socket, as its cluster module makes and sends it. */
export interface PortHandle {
  getsockname(out: { address?: string; port?: number; family?: string }): number
  close(): void
}

/** A port that is bound but not accepted on in this process. */
export interface SharedPort {
  readonly handle: PortHandle
  readonly address: net.AddressInfo
  close(): void
}

const RETRY_MS = 20

type CreateHandle = (
  address: string,
  port: number,
  addressType: 4 | 6,
  fd: number,
  flags: number,
) => PortHandle | number

/**
 * Binds a port for several processes: each gets the handle and accepts. While this process has it, connections wait in the
 * backlog whoever of the others ends. Rejects if the port is taken, and still is after `patienceMs`.
 */
export async function openSharedPort(host: string, port: number, patienceMs = 0): Promise<SharedPort> {
  const { address, family } = isIP(host) === 0 ? await lookup(host) : { address: host, family: isIP(host) }
  const endsAt = performance.now() + patienceMs
  for (;;) {
    try {
      return bind(address, family, port)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() >= endsAt) throw error
      await sleep(RETRY_MS)
    }
  }
}

function bind(address: string, family: number, port: number): SharedPort {
  // A net.Server would accept too. Node's cluster module binds in the same way.
  const { _createServerHandle: create } = net as unknown as { _createServerHandle: CreateHandle }
  const handle = create(address, port, family === 6 ? 6 : 4, -1, 0)
  if (typeof handle === 'number') throw toError(handle, address, port)
  const bound: { address?: string; port?: number; family?: string } = {}
  // A port that is taken is known here at the latest.
  const code = handle.getsockname(bound)
  if (code !== 0 || (port !== 0 && bound.port !== port)) {
    handle.close()
    throw toError(code === 0 ? EADDRINUSE : code, address, port)
  }
  return { handle, address: bound as net.AddressInfo, close: () => handle.close() }
}

const EADDRINUSE = -constants.errno.EADDRINUSE

function toError(code: number, address: string, port: number): Error {
  const name = code === EADDRINUSE ? 'EADDRINUSE' : getSystemErrorName(code)
  return Object.assign(new Error(`listen ${name}: ${address}:${port}`), {
    code: name,
    syscall: 'listen',
    address,
    port,
  })
}
