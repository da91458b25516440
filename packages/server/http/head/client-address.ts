import { BlockList, isIP, isIPv6 } from 'node:net'

/** The proxies whose `X-Forwarded-For` header is trusted. */
export interface TrustedProxies {
  has(address: string): boolean
}

/** Parses IP addresses and CIDR ranges. Returns undefined if one entry is neither. */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies | undefined {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/')
    const version = isIP(address)
    const max = version === 6 ? 128 : 32
    if (version === 0 || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined
    const prefix = bits === undefined ? max : Number(bits)
    if (prefix > max) return undefined
    list.addSubnet(address, prefix, version === 6 ? 'ipv6' : 'ipv4')
  }
  return { has: address => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') }
}

/**
 * Returns the client's IP address: the peer of the connection or, if the peer is a trusted proxy, the rightmost address
 * in `X-Forwarded-For` that is not a trusted proxy. Addresses further left are ignored, because any client can write
 * them.
 */
export function toClientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  let address = parseAddress(peer ?? '') ?? ''
  const hops = (forwardedFor ?? '').split(',')
  while (address !== '' && trusted.has(address)) {
    const next = parseAddress(hops.pop() ?? '')
    if (next === undefined) break
    address = next
  }
  return address
}

/** Returns the IP address of a connection's other end; empty if it is closed. */
export function toPeerAddress(peer: string | undefined): string {
  return parseAddress(peer ?? '') ?? ''
}

/**
 * Returns the key under which a caller is counted: an IPv4 address as it is, an IPv6 address by its /64, which is the
 * smallest block that a provider assigns.
 */
export function toAddressGroup(address: string): string {
  return isIPv6(address) ? toPrefix(address, 4) : address
}

/** Returns the network that one party may own as a whole: the /24 of an IPv4 address, the /48 of an IPv6 address. */
export function toAddressNetwork(address: string): string {
  return isIPv6(address) ? toPrefix(address, 3) : address.replace(/\.\d+$/, '.0/24')
}

/** Returns the /32 of an IPv6 address, the block of a whole provider; undefined for IPv4. */
export function toAddressBlock(address: string): string | undefined {
  return isIPv6(address) ? toPrefix(address, 2) : undefined
}

/** An IPv4 address at the end of an IPv6 address: two of its groups, after all that are part of a prefix. */
const DOTTED_TAIL = /\d+\.[\d.]+$/

/** Returns the first `parts` groups of 16 bits of an IPv6 address, as a CIDR. `parts` is at most 6. */
function toPrefix(address: string, parts: number): string {
  const bare = address.toLowerCase().split('%', 1)[0]?.replace(DOTTED_TAIL, '0:0')
  const [head = '', tail] = bare?.split('::') ?? []
  const leading = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const filled =
    tail === undefined
      ? leading
      : [...leading, ...Array(8 - leading.length - right.length).fill('0'), ...right]
  return `${filled
    .slice(0, parts)
    .map(part => Number.parseInt(part, 16).toString(16))
    .join(':')}::/${parts * 16}`
}

/** Parses `1.2.3.4`, `1.2.3.4:56`, `::1` and `[::1]:56`. Returns an IPv4-mapped IPv6 address as IPv4. */
function parseAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const address = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare
  return isIP(address) === 0 ? undefined : address
}
