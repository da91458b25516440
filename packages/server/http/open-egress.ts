import type { EgressPolicy } from './egress.ts'
import { HostResolver, type LookUpHost } from './host-resolver.ts'
import { HostsFile } from './hosts-file.ts'
import { type SlotBounds, toLookupOwner } from './lookup-slots.ts'
import { queryAddresses } from './query-addresses.ts'
import { SystemLookup } from './system-lookup.ts'

/** A lookup takes a socket, so many may run at once. */
const CONFIGURED_BOUNDS: SlotBounds = { total: 512, perTenant: 32, perCaller: 32, waitingPerTenant: 128 }
const CALLER_BOUNDS: SlotBounds = { total: 256, perTenant: 32, perCaller: 8, waitingPerTenant: 128 }

/** Names without a dot, and those of mDNS: DNS servers rarely have them, and the system may where none can be reached. */
const SYSTEM_NAME = /^[^.]+$|\.local\.?$/i
const SYSTEM_NAME_MS = 1_000

const NO_OWNER = toLookupOwner('')

export interface EgressOptions {
  readonly allowPrivate: boolean
  /** Addresses of DNS servers. Default: those of the system. */
  readonly dnsServers?: readonly string[] | undefined
}

export interface ConfiguredEgressOptions extends EgressOptions {
  readonly hostsFile?: HostsFile
  readonly system?: SystemLookup
}

/**
 * Opens the egress for hosts that configuration names: providers, credentials, issuers and webhooks. The hosts file
 * counts first. A name that DNS servers do not know is looked up by the system, if private addresses are allowed: only
 * names of a private network are known to the system alone.
 */
export function openConfiguredEgress(options: ConfiguredEgressOptions): EgressPolicy {
  const { allowPrivate, dnsServers, hostsFile = new HostsFile(), system = new SystemLookup() } = options
  const lookUp: LookUpHost = async (hostname, owner, timeoutMs) => {
    const startedAt = performance.now()
    const addresses = await hostsFile.find(hostname)
    if (addresses.length > 0) return { ok: true, addresses, ttlMs: 0 }
    const isSystemLikely = allowPrivate && SYSTEM_NAME.test(hostname)
    const queryMs = isSystemLikely ? Math.min(SYSTEM_NAME_MS, timeoutMs) : timeoutMs
    const answer = await queryAddresses(hostname, { servers: dnsServers, timeoutMs: queryMs })
    if (answer.ok || !allowPrivate) return answer
    if (answer.reason === 'timeout' && !isSystemLikely) return answer
    return await system.find(hostname, owner, timeoutMs - (performance.now() - startedAt))
  }
  return { allowPrivate, hosts: new HostResolver({ lookUp, bounds: CONFIGURED_BOUNDS }), owner: NO_OWNER }
}

/** Opens the egress for hosts that callers name, such as those of images. Only DNS servers are asked. */
export function openCallerEgress({ allowPrivate, dnsServers }: EgressOptions): EgressPolicy {
  const lookUp: LookUpHost = (hostname, _, timeoutMs) =>
    queryAddresses(hostname, { servers: dnsServers, timeoutMs })
  return { allowPrivate, hosts: new HostResolver({ lookUp, bounds: CALLER_BOUNDS }), owner: NO_OWNER }
}
