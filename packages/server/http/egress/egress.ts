import { BlockList, isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import type { buildConnector } from 'undici'
import type { Hosts } from '../names/host-resolver.ts'
import type { LookupOwner } from '../names/lookup-slots.ts'
import { buildBoundedConnector } from './bounded-tls.ts'
import { patchUndiciParser } from './patch-undici-parser.ts'
import type { SlowHandshakes } from './slow-handshakes.ts'

/** Which addresses the process may connect to. */
export interface AddressPolicy {
  /**
   * True also allows private and loopback addresses, `http:` and any port. Link-local and metadata addresses are never
   * allowed.
   */
  readonly allowPrivate: boolean
}

/**
 * How the process connects to other hosts. The guard checks each address when a socket connects, after name resolution,
 * and the socket connects to the checked addresses only, so that DNS rebinding, redirects and unusual spellings of an
 * address cannot bypass it.
 */
export interface EgressPolicy extends AddressPolicy {
  readonly hosts: Hosts
  /** Whose share of the lookups is used. */
  readonly owner: LookupOwner
  /** The TLS handshakes under this policy that blocked the event loop. */
  readonly handshakes: SlowHandshakes
}

/** Returns the policy with another owner of its lookups. */
export function chargeLookupsTo(policy: EgressPolicy, owner: LookupOwner): EgressPolicy {
  return { allowPrivate: policy.allowPrivate, hosts: policy.hosts, owner, handshakes: policy.handshakes }
}

export class EgressError extends Error {
  override readonly name = 'EgressError'
}

/** Blocked under every policy, whatever other lists say: the clouds' metadata and platform services. */
const metadata = toBlockList([
  '169.254.0.0/16',
  // Alibaba Cloud.
  '100.100.100.200/32',
  'fd00:100::100:200/128',
  // Oracle Cloud.
  '192.0.0.192/32',
  'fd00:c1::a9fe:a9fe/128',
  // Azure's platform service: a public address that answers only from inside a virtual machine.
  '168.63.129.16/32',
  // AWS, Google Cloud, Scaleway and Akamai.
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'fd00:42::42/128',
  'fd00:a9fe:a9fe::/64',
])

/** What `allowPrivate` adds: private use, loopback, shared address space, and benchmarking, which some proxies use. */
const privateUse = toBlockList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '::1/128',
  'fc00::/7',
])

/** IPv4: IANA's special-purpose registry, except what it lists as a part of another entry, and multicast. */
const specialV4 = toBlockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
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
  '224.0.0.0/4',
  '240.0.0.0/4',
])

/**
 * IPv6: everything outside global unicast is blocked, and with it ::/128, ::1/128, IPv4-compatible and translated
 * addresses, 64:ff9b:1::/48, 100::/64, 100:0:0:1::/64, 5f00::/16, fc00::/7, fe80::/10, fec0::/10 and ff00::/8.
 */
const globalUnicast = toBlockList(['2000::/3'])
/** The entries of IANA's special-purpose registry within global unicast, and the former 6bone. */
const specialV6 = toBlockList([
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
])

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
export function isAllowedAddress(address: string, policy: AddressPolicy): boolean {
  const bare = address.split('%', 1)[0] as string
  const family = isIP(bare)
  if (family === 0) return false
  if (family === 4) return isAllowedV4(bare, policy)
  // Check these first: net.BlockList matches IPv4-mapped addresses against IPv4 rules too.
  if (routedToV4.check(bare, 'ipv6')) return isAllowedV4(embeddedV4(bare), policy)
  if (metadata.check(bare, 'ipv6')) return false
  if (isIsatap(bare) && !isAllowedV4(embeddedV4(bare), policy)) return false
  if (policy.allowPrivate && privateUse.check(bare, 'ipv6')) return true
  return globalUnicast.check(bare, 'ipv6') && !specialV6.check(bare, 'ipv6')
}

function isAllowedV4(address: string, policy: AddressPolicy): boolean {
  if (metadata.check(address)) return false
  return !specialV4.check(address) || (policy.allowPrivate && privateUse.check(address))
}

/** True if the last 64 bits are those of ISATAP (RFC 5214): 0:5efe or 200:5efe, and an IPv4 address. */
function isIsatap(address: string): boolean {
  const [group, marker] = toHextets(address).slice(4) as [number, number]
  return (group === 0 || group === 0x200) && marker === 0x5efe
}

/** Returns the IPv4 address in the last 32 bits of a valid IPv6 address. */
function embeddedV4(address: string): string {
  const [high, low] = toHextets(address).slice(6) as [number, number]
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/** Returns the eight hextets of a valid IPv6 address. */
function toHextets(address: string): number[] {
  // The URL parser turns a dotted tail into two hextets.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [front, back] = [head, tail].map(part => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const zeros = Array<string>(8 - front.length - back.length).fill('0')
  return [...front, ...zeros, ...back].map(hextet => Number.parseInt(hextet, 16))
}

/** Throws EgressError with the reason if the policy allows no connection to this origin. */
export function assertAllowedOrigin(origin: string, policy: AddressPolicy): void {
  const url = new URL(origin)
  if (policy.allowPrivate) return
  if (url.protocol !== 'https:') throw new EgressError('the URL must use https:')
  if (url.port !== '') throw new EgressError('the URL must use port 443')
}

/** Opens a connection for undici. `owner`: whose share of the lookups is used, if not the policy's owner. */
export type GuardedConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  owner?: LookupOwner,
) => void

/** How many addresses of a name are tried. A caller must not make the gateway knock at a hundred hosts. */
const MAX_TRIED = 8

/**
 * Returns a connector for undici that rejects every address outside the policy. `timeoutMs` bounds the connect;
 * `isTrustedHost` is that of BoundedTlsOptions.
 */
export function createGuardedConnector(
  policy: EgressPolicy,
  timeoutMs: number,
  isTrustedHost?: (hostname: string) => boolean,
): GuardedConnector {
  let owner = policy.owner
  // callbackify, unlike a promise, lets an exception of the callback end in the process's own handler.
  const resolve = callbackify((hostname: string) => policy.hosts.resolve(hostname, owner))
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) return callback(error, [])
      // One blocked address rejects the name: a mix of public and private addresses is an attack, not a valid
      // configuration.
      const [first] = addresses
      if (first === undefined || !addresses.every(entry => isAllowedAddress(entry.address, policy))) {
        return callback(new EgressError('the address is not allowed'), [])
      }
      if (options.all === true) return callback(null, addresses.slice(0, MAX_TRIED))
      return callback(null, first.address, first.family)
    })
  }
  const connect = buildBoundedConnector({
    timeoutMs,
    lookup,
    handshakes: policy.handshakes,
    isTrustedHost,
  })
  return (options, callback, connectionOwner = policy.owner) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isAllowedAddress(host, policy)) {
      callback(new EgressError('the address is not allowed'), null)
      return
    }
    // A socket calls its lookup before connect returns.
    owner = connectionOwner
    connect(
      options,
      (...[error, socket]) => {
        if (error !== null) return callback(error, null)
        callback(null, socket)
        try {
          // undici has attached its parser to the socket by now.
          patchUndiciParser(socket)
        } catch (cause) {
          // Without the patch a slow caller could end the process, so the connection is closed.
          socket.destroy(new Error('the parser of undici could not be patched', { cause }))
        }
      },
      connectionOwner,
    )
    owner = policy.owner
  }
}
