import { describe, expect, test } from 'vitest'
import {
  parseTrustedProxies,
  toAddressBlock,
  toAddressGroup,
  toAddressNetwork,
  toClientAddress,
} from './client-address.ts'

function trust(...entries: string[]) {
  const trusted = parseTrustedProxies(entries)
  if (trusted === undefined) throw new Error('not a list of proxies')
  return trusted
}

describe('toClientAddress', () => {
  test.each([
    ['no trusted proxy: the peer', '9.9.9.9', '1.1.1.1', [], '9.9.9.9'],
    ['a peer that is not a trusted proxy: the peer', '9.9.9.9', '1.1.1.1', ['10.0.0.0/8'], '9.9.9.9'],
    ['one proxy', '10.0.0.1', '1.1.1.1', ['10.0.0.0/8'], '1.1.1.1'],
    [
      'an address that the caller added itself is ignored',
      '10.0.0.1',
      '6.6.6.6, 1.1.1.1',
      ['10.0.0.0/8'],
      '1.1.1.1',
    ],
    ['a chain of proxies', '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.2.3.4', ['10.0.0.0/8'], '1.1.1.1'],
    ['only trusted proxies: the leftmost', '10.0.0.1', '10.0.0.3, 10.0.0.2', ['10.0.0.0/8'], '10.0.0.3'],
    [
      'an entry that is not an address: the peer',
      '10.0.0.1',
      '1.1.1.1, nonsense',
      ['10.0.0.0/8'],
      '10.0.0.1',
    ],
    ['no header', '10.0.0.1', undefined, ['10.0.0.0/8'], '10.0.0.1'],
    ['a port', '10.0.0.1', '1.1.1.1:4242', ['10.0.0.0/8'], '1.1.1.1'],
    ['IPv6 with a port', '10.0.0.1', '[2001:db8::7]:4242', ['10.0.0.0/8'], '2001:db8::7'],
    ['an IPv4 peer written as IPv6', '::ffff:10.0.0.1', '1.1.1.1', ['10.0.0.0/8'], '1.1.1.1'],
    ['an IPv6 proxy', 'fd00::1', '1.1.1.1', ['fd00::/8'], '1.1.1.1'],
    ['a single address', '127.0.0.1', '1.1.1.1', ['127.0.0.1'], '1.1.1.1'],
  ])('%s', (_, peer, forwardedFor, trusted, expected) => {
    expect(toClientAddress(peer, forwardedFor, trust(...trusted))).toBe(expected)
  })

  test('toAddressNetwork groups callers by their /24 or /48', () => {
    expect(toAddressNetwork('192.0.2.1')).toBe('192.0.2.0/24')
    expect(toAddressNetwork('192.0.3.1')).toBe('192.0.3.0/24')
    expect(toAddressNetwork('2001:db8:0:a::1')).toBe('2001:db8:0::/48')
    expect(toAddressNetwork('2001:db8:0:b::1')).toBe('2001:db8:0::/48')
    expect(toAddressNetwork('')).toBe('')
  })

  test('toAddressGroup groups IPv6 callers by their /64', () => {
    expect(toAddressGroup('2001:DB8:0:0a::1')).toBe('2001:db8:0:a::/64')
    expect(toAddressGroup('2001:db8:0:a:ffff:1:2:3')).toBe('2001:db8:0:a::/64')
    expect(toAddressGroup('2001:db8:0:b::1')).toBe('2001:db8:0:b::/64')
    expect(toAddressGroup('::1')).toBe('0:0:0:0::/64')
    expect(toAddressGroup('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
    // The same address in hex and with a dotted tail, which stands for two groups.
    expect(toAddressGroup('::268:745a:0:0:6874:5a70')).toBe('0:0:268:745a::/64')
    expect(toAddressGroup('::268:745a:0:0:104.116.90.112')).toBe('0:0:268:745a::/64')
    expect(toAddressGroup('192.0.2.1')).toBe('192.0.2.1')
  })

  test('toAddressBlock groups IPv6 callers by their /32 and no IPv4 callers', () => {
    expect(toAddressBlock('2001:DB8:1::1')).toBe('2001:db8::/32')
    expect(toAddressBlock('::1')).toBe('0:0::/32')
    expect(toAddressBlock('192.0.2.1')).toBeUndefined()
  })

  test.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'proxy.example', '::/129', ''])(
    'parseTrustedProxies returns undefined for %j',
    entry => {
      expect(parseTrustedProxies([entry])).toBeUndefined()
    },
  )
})
