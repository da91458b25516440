import { isIP, isIPv6 } from 'node:net'
import { parseOrigin } from '../../packages/server/core/access/origin.ts'
import { isAllowedAddress } from '../../packages/server/http/egress/egress.ts'
import { findUrlObjection } from '../../packages/server/http/egress/outgoing-url.ts'
import {
  parseTrustedProxies,
  toAddressBlock,
  toAddressGroup,
  toClientAddress,
  toPeerAddress,
} from '../../packages/server/http/head/client-address.ts'
import { Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

const trusted = parseTrustedProxies(['10.0.0.0/8', '::1', 'fd00::/8'])
if (trusted === undefined) throw new Error('The ranges are not valid.')

export const seeds = [
  '\x00\x021.2.3.4, 10.0.0.1',
  '\x00\x00[2001:db8::1]:443,::ffff:10.1.1.1',
  '\x01\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01',
  '\x02https://example.com:443/a?b',
  '\x02http://[::ffff:169.254.169.254]/',
  '\x0310.0.0.0/8,::/0',
  '\x0f1.1.1.1,',
].map(text => Buffer.from(text, 'latin1'))

/** The hextets of an IPv6 address, and every way to write it that this makes: all are one address. */
function toSpellings(bytes: Buffer): string[] {
  const hextets = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16))
  const full = hextets.join(':')
  const padded = hextets.map(each => each.padStart(4, '0')).join(':')
  const tail = [...bytes.subarray(12)].join('.')
  const short = new URL(`http://[${full}]`).hostname.slice(1, -1)
  const zeros = hextets.findIndex((each, index) => each === '0' && index < 5)
  const run = zeros === -1 ? 0 : hextets.slice(zeros, 6).findIndex(each => each !== '0')
  const zeroEnd = zeros === -1 ? 0 : run === -1 ? 6 : zeros + run
  const dotted = `${hextets.slice(0, 6).join(':')}:${tail}`
  const shortDotted =
    zeroEnd - zeros > 1
      ? `${hextets.slice(0, zeros).join(':')}::${[...hextets.slice(zeroEnd, 6), tail].join(':')}`
      : dotted
  return [full, padded, full.toUpperCase(), short, dotted, shortDotted]
}

function checkSpellings(input: Input): void {
  const bytes = Buffer.concat([input.take(16), Buffer.alloc(16)]).subarray(0, 16)
  const zeroed = input.byte()
  for (let index = 0; index < 8; index++) if ((zeroed >> index) % 2 === 1) bytes.writeUInt16BE(0, index * 2)
  const spellings = toSpellings(bytes)
  const [full = '', ...others] = spellings
  const expected = `${full.split(':').slice(0, 4).join(':')}::/64`
  for (const spelling of spellings) {
    assert(isIP(spelling) === 6, `${spelling} is an address`)
    assertEqual(toAddressGroup(spelling), expected, `one address is counted once: ${spelling}`)
    assertEqual(
      toAddressBlock(spelling),
      `${full.split(':').slice(0, 2).join(':')}::/32`,
      `one block: ${spelling}`,
    )
  }
  for (const allowPrivate of [true, false])
    for (const other of others)
      assertEqual(
        isAllowedAddress(other, { allowPrivate }),
        isAllowedAddress(full, { allowPrivate }),
        `one verdict: ${other}`,
      )
}

function checkForwarded(peer: string, forwarded: string): void {
  const address = toClientAddress(peer, forwarded, trusted as NonNullable<typeof trusted>)
  assert(address === '' || isIP(address) !== 0, 'an address or nothing')
  const direct = toPeerAddress(peer)
  if (direct === '' || !trusted?.has(direct))
    assertEqual(address, direct, 'nothing of what a stranger forwards counts')
  const prefixed = toClientAddress(peer, `6.6.6.6,${forwarded}`, trusted as NonNullable<typeof trusted>)
  if (!trusted?.has(address))
    assertEqual(prefixed, address, 'what a client writes further left changes nothing')
  if (address !== '')
    assert(isIPv6(address) === toAddressGroup(address).endsWith('::/64'), 'an IPv6 address has a group')
}

function checkUrl(text: string): void {
  const objection = findUrlObjection(text, { allowPrivate: false })
  parseOrigin(text)
  const origin = parseOrigin(text)
  if (origin !== undefined) {
    assert(/^[\x21-\x7e]+$/.test(origin), 'an origin is safe in a header')
    assertEqual(parseOrigin(origin), origin, 'an origin reads as itself')
  }
  if (objection !== undefined) return
  const url = new URL(text)
  assert(
    url.protocol === 'https:' && url.port === '' && url.username === '' && url.hash === '',
    'https on port 443',
  )
  const host = url.hostname.replace(/^\[|\]$/g, '')
  assert(
    isIP(host) === 0 || isAllowedAddress(host, { allowPrivate: false }),
    'no address that is not allowed',
  )
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const mode = input.byte()
  const peers = ['10.0.0.1', '::1', '::ffff:10.9.9.9', '1.2.3.4', '2001:db8::5', '']
  if (mode % 16 === 15) {
    const bytes = repeat(input.rest(), 2000)
    assertLinear(bytes, 60, 8000, () =>
      toClientAddress('10.0.0.1', bytes.toString('latin1'), trusted as NonNullable<typeof trusted>),
    )
  } else if (mode % 4 === 0) checkForwarded(peers[input.byte() % 6] ?? '', input.rest().toString('latin1'))
  else if (mode % 4 === 1) checkSpellings(input)
  else if (mode % 4 === 2) checkUrl(input.rest().toString('utf8'))
  else {
    const { error } = attempt(() => parseTrustedProxies(input.rest().toString('latin1').split(',')))
    assert(error === undefined, `a range or undefined: ${error?.stack}`)
  }
}
