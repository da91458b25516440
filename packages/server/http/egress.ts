import dns from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { mendParser } from './mend-parser.ts'

/**
 * The one guard on outgoing connections, at the socket's connect, where names are already addresses: a name that
 * resolves anew, a redirect or an odd spelling of an address meets the same check (field notes, AC-88).
 */
export interface EgressPolicy {
  /** Private and loopback addresses, `http:` and any port. Link-local and metadata addresses are refused always. */
  readonly allowPrivate: boolean
}

export class EgressError extends Error {
  override readonly name = 'EgressError'
}

const forbidden = new BlockList()
forbidden.addSubnet('169.254.0.0', 16)
forbidden.addSubnet('0.0.0.0', 8)
forbidden.addSubnet('224.0.0.0', 4)
forbidden.addSubnet('240.0.0.0', 4)
forbidden.addAddress('100.100.100.200')
forbidden.addAddress('192.0.0.192')
forbidden.addSubnet('fe80::', 10, 'ipv6')
forbidden.addSubnet('ff00::', 8, 'ipv6')
forbidden.addAddress('::', 'ipv6')
forbidden.addAddress('fd00:ec2::254', 'ipv6')

const nonGlobal = new BlockList()
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
] as const) {
  nonGlobal.addSubnet(net, bits)
}

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')
const nonGlobalV6 = new BlockList()
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  nonGlobalV6.addSubnet(net, bits, 'ipv6')
}

/** May we connect to this address (IPv4 or IPv6, no brackets)? */
export function isAllowedAddress(address: string, policy: EgressPolicy): boolean {
  const bare = address.split('%', 1)[0] as string
  const family = isIP(bare)
  if (family === 0) return false
  if (family === 4) return isAllowedV4(bare, policy)
  const embedded = embeddedV4(bare)
  if (embedded !== undefined) return isAllowedV4(embedded, policy)
  if (forbidden.check(bare, 'ipv6')) return false
  if (policy.allowPrivate) return true
  return globalUnicast.check(bare, 'ipv6') && !nonGlobalV6.check(bare, 'ipv6')
}

function isAllowedV4(address: string, policy: EgressPolicy): boolean {
  if (forbidden.check(address)) return false
  return policy.allowPrivate || !nonGlobal.check(address)
}

const mapped = new BlockList()
mapped.addSubnet('::ffff:0:0', 96, 'ipv6')
mapped.addSubnet('64:ff9b::', 96, 'ipv6')

/** The IPv4 address inside a mapped or NAT64 one: the guard judges where the packets really go. */
function embeddedV4(address: string): string | undefined {
  // net.BlockList matches mapped addresses against IPv4 rules by itself, so the test is on the IPv6 form.
  if (!mapped.check(address, 'ipv6')) return undefined
  const hextets = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':')
  const [high, low] = hextets.slice(-2).map(hextet => Number.parseInt(hextet === '' ? '0' : hextet, 16))
  if (high === undefined || low === undefined) return undefined
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/** Is this origin one that the policy lets us call at all? Throws EgressError with the reason. */
export function checkOrigin(origin: string, policy: EgressPolicy): void {
  const url = new URL(origin)
  if (policy.allowPrivate) return
  if (url.protocol !== 'https:') throw new EgressError('only https: upstreams are allowed here')
  if (url.port !== '') throw new EgressError('only port 443 is allowed here')
}

/** A connector for undici that refuses every address outside the policy. `timeoutMs` bounds the connect. */
export function createGuardedConnector(policy: EgressPolicy, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      // One bad address refuses the name: a record that mixes public and private ones is an attack, not a set-up.
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
      // undici has given it its parser now.
      mendParser(socket)
    })
  }
}
