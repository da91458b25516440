import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type AwsCredential, signAwsRequest, toSigningKey } from './sign-aws-request.ts'
import type { UpstreamRequest } from './upstream-request.ts'

/** Keys and time of AWS's published examples. */
const EXAMPLE: AwsCredential = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
}
const AT = Date.UTC(2015, 7, 30, 12, 36, 0)

function sign(fields: Partial<UpstreamRequest> = {}, credential = EXAMPLE, at = AT): Record<string, string> {
  const request: UpstreamRequest = {
    method: 'GET',
    origin: 'https://example.amazonaws.com',
    path: '/',
    body: Buffer.alloc(0),
    ...fields,
    headers: { ...fields.headers },
  }
  signAwsRequest(request, credential, at)
  return request.headers
}

const signatureOf = (headers: Record<string, string>): string =>
  /Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '')?.[1] ?? ''

describe("AWS's published examples", () => {
  test('ListUsers of IAM, from its signing key to its header', () => {
    const iam = { ...EXAMPLE, service: 'iam' }
    expect(toSigningKey(iam, '20150830').toString('hex')).toBe(
      'c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9',
    )
    const headers = sign(
      {
        origin: 'https://iam.amazonaws.com',
        path: '/?Action=ListUsers&Version=2010-05-08',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      },
      iam,
    )
    expect(headers).toMatchObject({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    })
  })

  test.each<[string, Partial<UpstreamRequest>, string]>([
    ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'get-space',
      { path: '/example space/' },
      '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
    ],
    ['get-utf8', { path: '/ሴ' }, '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
    [
      'get-vanilla-query-order-key-case',
      { path: '/?Param2=value2&Param1=value1' },
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'post-x-www-form-urlencoded',
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from('Param1=value1'),
      },
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('%s of the test suite', (_, fields, signature) => {
    expect(signatureOf(sign(fields))).toBe(signature)
  })
})

test("a model's colon is encoded once in the path that is sent, and again in what is signed", () => {
  const sha256 = (data: string): string => createHash('sha256').update(data).digest('hex')
  const canonical = [
    'GET',
    '/model/a%253A0/converse',
    '',
    'host:example.amazonaws.com',
    'x-amz-date:20150830T123600Z',
    '',
    'host;x-amz-date',
    sha256(''),
  ].join('\n')
  const toSign = [
    'AWS4-HMAC-SHA256',
    '20150830T123600Z',
    '20150830/us-east-1/service/aws4_request',
    sha256(canonical),
  ]
  const expected = createHmac('sha256', toSigningKey(EXAMPLE, '20150830'))
    .update(toSign.join('\n'))
    .digest('hex')
  expect(signatureOf(sign({ path: '/model/a%3A0/converse' }))).toBe(expected)
})

test('everything that is sent counts: the signature differs with each part', () => {
  const base = {
    method: 'POST',
    body: Buffer.from('{}'),
    headers: { 'content-type': 'application/json' },
  } as const
  const signatures = [
    sign(base),
    sign({ ...base, method: 'GET' }),
    sign({ ...base, path: '/x' }),
    sign({ ...base, path: '/?a=b' }),
    sign({ ...base, body: Buffer.from('{ }') }),
    sign({ ...base, origin: 'https://other.amazonaws.com' }),
    sign({ ...base, headers: { 'content-type': 'text/plain' } }),
    sign(base, { ...EXAMPLE, region: 'eu-west-1' }),
    sign(base, { ...EXAMPLE, service: 'other' }),
    sign(base, { ...EXAMPLE, secretAccessKey: 'x' }),
    sign(base, { ...EXAMPLE, sessionToken: 't' }),
    sign(base, EXAMPLE, AT + 1000),
  ].map(signatureOf)
  expect(new Set(signatures).size).toBe(signatures.length)
})

test('a session token is sent and signed; headers that proxies change are not signed', () => {
  const headers = sign({ headers: { accept: 'application/json' } }, { ...EXAMPLE, sessionToken: 'temporary' })
  expect(headers['x-amz-security-token']).toBe('temporary')
  expect(headers.authorization).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token,')
})
