import { BlockList, isIP, isIPv6 } from 'node:net'

/** The proxies whose `X-Forwarded-For` is believed. */
export interface TrustedProxies {
  has(address: string): boolean
}

/** From addresses and CIDRs; undefined where one of them is none. */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies | undefined {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/')
    const version = isIP(address)
    const most = version === 6 ? 128 : 32
    if (version === 0 || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined
    const prefix = bits === undefined ? most : Number(bits)
    if (prefix > most) return undefined
    list.addSubnet(address, prefix, version === 6 ? 'ipv6' : 'ipv4')
  }
  return { has: address => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') }
}

/**
 * Whose call it is: the connection's other end, or, where that is a trusted proxy, the rightmost address of
 * `X-Forwarded-For` that is none. What stands further left anybody may have written.
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

/** What stands for one caller where callers are counted: of IPv6 the /64, which is the least that anybody is given. */
export function toAddressGroup(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.toLowerCase().split('%', 1)[0]?.split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const filled =
    tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right]
  return `${filled
    .slice(0, 4)
    .map(part => Number.parseInt(part, 16).toString(16))
    .join(':')}::/64`
}

/** `1.2.3.4`, `1.2.3.4:56`, `::1`, `[::1]:56`; an IPv4 address written as IPv6 is the IPv4 address. */
function parseAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^([\d.]+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const address = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare
  return isIP(address) === 0 ? undefined : address
}
