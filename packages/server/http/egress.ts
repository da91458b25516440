import dns from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { patchUndiciParser } from './patch-undici-parser.ts'

/**
 * Which addresses the process may connect to. The guard checks each address when a socket connects, after name
 * resolution, so that DNS rebinding, redirects and unusual spellings of an address cannot bypass it.
 */
export interface EgressPolicy {
  /**
   * True also allows private and loopback addresses, `http:` and any port. Link-local and metadata addresses are never
   * allowed.
   */
  readonly allowPrivate: boolean
}

export class EgressError extends Error {
  override readonly name = 'EgressError'
}

/**
 * Blocked under every policy: link-local, multicast and reserved addresses, and the clouds' metadata and platform
 * services.
 */
const forbidden = toBlockList([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Alibaba Cloud's metadata service.
  '100.100.100.200/32',
  // Oracle Cloud's metadata service.
  '192.0.0.192/32',
  // Azure's platform service: a public address that answers only from inside a virtual machine.
  '168.63.129.16/32',
  '::/128',
  'fe80::/10',
  'ff00::/8',
  // Metadata services of AWS, Google Cloud and Scaleway.
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'fd00:42::42/128',
  // Addresses that embed an IPv4 address in a form that no provider uses: translated (RFC 2765), local NAT64 (RFC
  // 8215), Teredo and 6to4.
  '::ffff:0:0:0/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
])
// IPv4-compatible addresses embed an IPv4 address too; ::1, the loopback address, is the only one in use.
forbidden.addRange('::2', '::ffff:ffff', 'ipv6')

/** IPv4 ranges of IANA's special-purpose registry that are not globally reachable. */
const nonGlobal = toBlockList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
])

const globalUnicast = toBlockList(['2000::/3'])
/** The ranges within global unicast that IANA's special-purpose registry excludes. */
const nonGlobalV6 = toBlockList(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'])

/** IPv4-mapped (RFC 4291) and NAT64 (RFC 6052) addresses: packets go to the IPv4 address in the last 32 bits. */
const routedToV4 = toBlockList(['::ffff:0:0/96', '64:ff9b::/96'])

function toBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [net, bits] = range.split('/') as [string, string]
    list.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}

/** True if the policy allows a connection to this IPv4 or IPv6 address (without brackets). */
export function isAllowedAddress(address: string, policy: EgressPolicy): boolean {
  const bare = address.split('%', 1)[0] as string
  const family = isIP(bare)
  if (family === 0) return false
  if (family === 4) return isAllowedV4(bare, policy)
  // Check these first: net.BlockList matches IPv4-mapped addresses against IPv4 rules too.
  if (routedToV4.check(bare, 'ipv6')) return isAllowedV4(embeddedV4(bare), policy)
  if (forbidden.check(bare, 'ipv6')) return false
  if (policy.allowPrivate) return true
  return globalUnicast.check(bare, 'ipv6') && !nonGlobalV6.check(bare, 'ipv6')
}

function isAllowedV4(address: string, policy: EgressPolicy): boolean {
  if (forbidden.check(address)) return false
  return policy.allowPrivate || !nonGlobal.check(address)
}

/** Returns the IPv4 address in the last 32 bits of a valid IPv6 address. */
function embeddedV4(address: string): string {
  // The URL parser turns a dotted tail into two hextets. Both prefixes end in zeros, so an empty hextet is zero.
  const hextets = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':')
  const [high = 0, low = 0] = hextets
    .slice(-2)
    .map(hextet => Number.parseInt(hextet === '' ? '0' : hextet, 16))
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/** Throws EgressError with the reason if the policy allows no connection to this origin. */
export function assertAllowedOrigin(origin: string, policy: EgressPolicy): void {
  const url = new URL(origin)
  if (policy.allowPrivate) return
  if (url.protocol !== 'https:') throw new EgressError('the URL must use https:')
  if (url.port !== '') throw new EgressError('the URL must use port 443')
}

/** Returns a connector for undici that rejects every address outside the policy. `timeoutMs` bounds the connect. */
export function createGuardedConnector(policy: EgressPolicy, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      // One blocked address rejects the name: a mix of public and private addresses is an attack, not a valid
      // configuration.
      if (addresses.length === 0 || addresses.some(entry => !isAllowedAddress(entry.address, policy))) {
        return callback(new EgressError('the address is not allowed'), [])
      }
      if (options.all === true) return callback(null, addresses)
      const [first] = addresses
      return callback(null, (first as dns.LookupAddress).address, (first as dns.LookupAddress).family)
    })
  }
  const connect = buildConnector({ timeout: timeoutMs, lookup })
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isAllowedAddress(host, policy)) {
      callback(new EgressError('the address is not allowed'), null)
      return
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      callback(null, socket)
      try {
        // undici has attached its parser to the socket by now.
        patchUndiciParser(socket)
      } catch (cause) {
        // Without the patch a slow caller could end the process, so the connection is closed.
        socket.destroy(new Error('the parser of undici could not be patched', { cause }))
      }
    })
  }
}
