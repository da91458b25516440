import type { SlotBounds } from '../fairness/fair-slots.ts'
import { HostResolver, type Hosts, LookupError } from '../names/host-resolver.ts'
import { HostsFile } from '../names/hosts-file.ts'
import { toLookupOwner, toTenant } from '../names/lookup-slots.ts'
import { queryAddresses } from '../names/query-addresses.ts'
import { SystemLookup } from '../names/system-lookup.ts'
import type { EgressPolicy } from './egress.ts'
import { SlowHandshakes } from './slow-handshakes.ts'

/** A lookup takes only a socket, so a large number may run at once. */
const CONFIGURED_BOUNDS: SlotBounds = {
  total: 512,
  perOrganization: 96,
  perTenant: 32,
  perCaller: 32,
  waitingPerOrganization: 256,
  waitingPerTenant: 128,
}
const CALLER_BOUNDS: SlotBounds = {
  total: 256,
  perOrganization: 48,
  perTenant: 32,
  perCaller: 8,
  waitingPerOrganization: 256,
  waitingPerTenant: 128,
}

/** Names without a dot, and those of mDNS: DNS servers rarely have them, and the system may where none can be reached. */
const LOCAL_NAME = /^[^.]+$|\.local\.?$/i
const LOCAL_QUERY_MS = 1_000

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

/** Opens the egress for hosts that configuration names: providers, credentials, issuers and webhooks. */
export function openConfiguredEgress(options: ConfiguredEgressOptions): EgressPolicy {
  const { allowPrivate, dnsServers, hostsFile = new HostsFile(), system = new SystemLookup() } = options
  const known = new HostResolver({
    bounds: CONFIGURED_BOUNDS,
    lookUp: async (hostname, _, timeoutMs) => {
      const addresses = await hostsFile.list(hostname)
      if (addresses.length > 0) return { ok: true, addresses, ttlMs: 0 }
      const isLocal = allowPrivate && LOCAL_NAME.test(hostname)
      const queryMs = isLocal ? LOCAL_QUERY_MS : timeoutMs
      return await queryAddresses(hostname, { servers: dnsServers, timeoutMs: queryMs })
    },
  })
  return {
    allowPrivate,
    hosts: allowPrivate ? withSystem(known, system) : known,
    owner: NO_OWNER,
    handshakes: new SlowHandshakes(),
  }
}

/**
 * Asks the system for names that are not found otherwise. Only names of a private network are known to the system alone.
 * Answers are kept for each tenant apart: another tenant may be barred from the system, or wait there.
 */
function withSystem(known: Hosts, system: SystemLookup): Hosts {
  const local = new HostResolver({
    bounds: CONFIGURED_BOUNDS,
    // No name has a space; a tenant may.
    lookUp: (key, owner, timeoutMs) => system.resolve(key.slice(key.lastIndexOf(' ') + 1), owner, timeoutMs),
  })
  return {
    async resolve(hostname, owner) {
      try {
        return await known.resolve(hostname, owner)
      } catch (error) {
        if (!(error instanceof LookupError)) throw error
        // Where DNS servers do not answer the system gets no further, except for names that it need not ask them for.
        if (error.code === 'ETIMEOUT' && !LOCAL_NAME.test(hostname)) throw error
        return await local.resolve(`${toTenant(owner)} ${hostname}`, owner)
      }
    },
  }
}

/** Opens the egress for hosts that callers name, such as those of images. Only DNS servers are asked. */
export function openCallerEgress({ allowPrivate, dnsServers }: EgressOptions): EgressPolicy {
  const hosts = new HostResolver({
    bounds: CALLER_BOUNDS,
    lookUp: (hostname, _, timeoutMs) => queryAddresses(hostname, { servers: dnsServers, timeoutMs }),
  })
  return { allowPrivate, hosts, owner: NO_OWNER, handshakes: new SlowHandshakes() }
}
