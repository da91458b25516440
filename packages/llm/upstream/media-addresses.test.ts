import { describe, expect, test } from 'vitest'
import { measureMs } from '../testing/measure-ms.ts'
import { ADDRESSES } from '../testing/outgoing/outgoing-case.ts'
import { isSendableAddress, isSendableMedia, isSendableText } from './media-addresses.ts'
import { FieldRules, SCALAR } from './outgoing-rules.ts'

const PUBLIC = [
  'https://a.example/x.png',
  'HTTPS://A.example:8443/x.png',
  'https://a.example',
  'https://a.example?x=1',
  'https://bücher.example/a b.png',
  'https://a.example/@user/100%25.png#top',
]
const DATA = ['data:image/png;base64,QUJD', 'DATA:,x']

describe('an address of an image or a file', () => {
  test.each(ADDRESSES)('of an end user is refused if it may lead to a private host: %j', address => {
    expect(isSendableAddress(address, 'public')).toBe(false)
    expect(isSendableMedia(address, 'public')).toBe(false)
  })

  test.each([
    ...[
      'localhost.localdomain',
      'kubernetes.default.svc',
      'a.svc.cluster.local',
      'a.lan',
      'a.home.arpa',
      'a.corp',
    ],
    ...['a.intranet', 'a.home', 'a.private', 'a.consul', 'a.onion', 'a.test', 'A.LAN.', 'a.example:6379'],
  ])('of an end user is refused for a name or a port of no public server: %s', host => {
    expect(isSendableAddress(`https://${host}/`, 'public')).toBe(false)
  })

  test.each(PUBLIC)('of an end user may lead to a public name: %j', address => {
    expect(isSendableAddress(address, 'public')).toBe(true)
    expect(isSendableAddress(address, 'none')).toBe(false)
  })

  test.each(DATA)('may be a data URL, whoever fetches: %j', address => {
    for (const allowed of ['any', 'public', 'none'] as const) {
      expect(isSendableAddress(address, allowed)).toBe(true)
    }
  })

  test.each([...ADDRESSES, ...PUBLIC])('is for a key to decide: %j', address => {
    expect(isSendableAddress(address, 'any')).toBe(true)
  })
})

test('bytes in base64 need no scheme where bytes are expected', () => {
  expect(isSendableMedia('QUJD+/=', 'none')).toBe(true)
  expect(isSendableAddress('QUJD+/=', 'none')).toBe(false)
})

test('in a field of unknown meaning a text that names a host is an address, and a field that is called so', () => {
  expect(isSendableText('novelty', 'http://10.0.0.5/', 'public')).toBe(false)
  expect(isSendableText('video_url', '10.0.0.5', 'public')).toBe(false)
  for (const text of ['Note: see a.example', 'http: a protocol', 'a/b:c', 'data:image/png;base64,QUJD'])
    expect(isSendableText('novelty', text, 'public')).toBe(true)
})

test.each([
  'http:/10.0.0.5/a',
  'http:\\\\10.0.0.5\\a',
  'http:10.0.0.5/a',
  '\u0001http://10.0.0.5/a',
  ' \u0000ht\ntp://10.0.0.5/a',
  'http\t:\r\n//10.0.0.5/a',
  'h\nt\nt\np:\n10.0.0.5',
  '\u00a0http://10.0.0.5/',
  'file:/etc/passwd',
])('in a field of unknown meaning a text that parsers read as an address is one: %j', text => {
  for (const allowed of ['public', 'none'] as const)
    expect(isSendableText('novelty', text, allowed)).toBe(false)
  expect(isSendableText('novelty', text, 'any')).toBe(true)
})

// A search that is not linear would take hours for these, and the test would end by its time limit.
test('a scheme of any length is looked for in linear time', () => {
  for (const text of ['a\n'.repeat(5_000_000), ' '.repeat(10_000_000)])
    expect(isSendableText('novelty', text, 'public')).toBe(true)
})

const measureFree = (text: string): number =>
  measureMs(() => expect(isSendableText('novelty', text, 'public')).toBe(true))

// 31 MiB of them took 47 ms, and 65 in a text of two-byte characters.
test('blanks before a scheme are read once', () => {
  const blanks = Buffer.alloc(62 * 1_048_576, ' ', 'utf16le')
  const text = (end: string): string => {
    blanks.write(end, blanks.length - 2 * end.length, 'utf16le')
    return blanks.toString('utf16le')
  }
  for (const end of ['人//10.0.0.1', '人', ' ']) expect(measureFree(text(end))).toBeLessThan(50)
  for (const end of [' //10.0.0.1', '\u2003http:10.0.0.1'])
    expect(isSendableText('novelty', text(end), 'public')).toBe(false)
})

describe('line ends within a scheme', () => {
  const many = '\t'.repeat(10_000)

  test.each([
    `h${many}ttps://10.0.0.1`,
    `a:h${many}ttp:10.0.0.1`,
    `https${many}://a`,
    `https:${many}//a`,
    `h${many}`,
  ])('are not read beyond 8,192 characters, and what they may hide is no free text: %#', text =>
    expect(isSendableText('novelty', text, 'public')).toBe(false),
  )

  test('stand in free texts too, of which any line may be longer than a scheme', () => {
    for (const line of [`${'a1'.repeat(38)}\n`, 'some words\n', `\n${'a'.repeat(65)}`, '\t-\n'])
      expect(isSendableText('novelty', line.repeat(5_000), 'public')).toBe(true)
  })

  test('take no time', () => {
    const text = `h${'\t'.repeat(31 * 1_048_576)}`
    const usedMs = measureMs(() => {
      for (let n = 0; n < 4; n++) isSendableText('novelty', text, 'public')
    })
    expect(usedMs).toBeLessThan(40)
  })
})

test('a host of any length is judged in linear time', () => {
  expect(isSendableAddress(`https://${'a.'.repeat(10_000_000)}`, 'public')).toBe(false)
})

test('a table of rules cannot list a field that is called an address without a rule that checks it', () => {
  for (const name of ['video_url', 'fileUri', 'urls']) {
    expect(() => new FieldRules([[name, SCALAR]], 'free')).toThrow(/needs a rule that checks it/)
  }
})
