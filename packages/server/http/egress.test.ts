import { describe, expect, test } from 'vitest'
import { assertAllowedOrigin, EgressError, isAllowedAddress } from './egress.ts'

const strict = { allowPrivate: false }
const lenient = { allowPrivate: true }

describe('without private upstreams', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.127.255.255',
    '169.254.169.254',
    '0.0.0.0',
    '0.1.2.3',
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '100.100.100.200',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2001::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '64:ff9b::169.254.169.254',
    '::127.0.0.1',
    'fd00:ec2::254',
    '3fff::1',
    '168.63.129.16',
    '192.31.196.1',
    '192.175.48.6',
    '64:ff9b:1::808:808',
    '::ffff:0:8.8.8.8',
    '2002:808:808::',
    '2620:4f:8000::1',
    'not an address',
    '',
  ])('does not allow %s', address => {
    expect(isAllowedAddress(address, strict)).toBe(false)
  })

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('allows the public address %s', address => {
    expect(isAllowedAddress(address, strict)).toBe(true)
  })

  test.each(['http://api.example.com', 'https://api.example.com:8443'])(
    'throws EgressError for the origin %s',
    origin => {
      expect(() => assertAllowedOrigin(origin, strict)).toThrow(EgressError)
    },
  )

  test('allows an https origin on port 443', () => {
    expect(() => assertAllowedOrigin('https://api.example.com', strict)).not.toThrow()
  })
})

describe('with private upstreams', () => {
  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '192.168.0.9',
    '::1',
    'fd00::5',
    '8.8.8.8',
    '2606:4700::1111',
    '::ffff:10.0.0.1',
  ])('allows %s', address => {
    expect(isAllowedAddress(address, lenient)).toBe(true)
  })

  test.each([
    '169.254.169.254',
    'fe80::1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '0.0.0.0',
    '224.0.0.1',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:42::42',
    '2002:a9fe:a9fe::',
    '2001:0:a9fe:a9fe::1',
    '64:ff9b:1:a9fe:a9:fe00::',
    '2002:a9fe:a9fe:1::7',
    '::a9fe:a9fe',
    '::169.254.169.254',
    '::ffff:0:a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b:1:2:3:4:a9fe:a9fe',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '64:ff9b::a83f:8110',
    '192.0.0.192',
    '100.100.100.200',
  ])('does not allow the link-local or metadata address %s', address => {
    expect(isAllowedAddress(address, lenient)).toBe(false)
  })
})
