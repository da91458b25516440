import { createHash, createHmac } from 'node:crypto'
import type { UpstreamRequest } from './upstream-request.ts'

export interface AwsCredential {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The session token of temporary credentials. */
  readonly sessionToken?: string
  readonly region: string
  /** AWS's name for the service in signatures. */
  readonly service: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/**
 * Signs a finished request (AWS Signature Version 4, every service but S3): adds `x-amz-date`, the session token where
 * there is one, and `authorization`. Nothing that is signed may change afterwards. `nowMs`: Unix milliseconds; AWS takes
 * five minutes of difference. The path is already percent-encoded once, as it is sent, and has no `.` or `..` segment.
 */
export function signAwsRequest(request: UpstreamRequest, credential: AwsCredential, nowMs: number): void {
  const { headers } = request
  // 2015-08-30T12:36:00.000Z → 20150830T123600Z
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  headers['x-amz-date'] = time
  if (credential.sessionToken !== undefined) headers['x-amz-security-token'] = credential.sessionToken
  const signed = listSigned(request)
  const names = signed.map(([name]) => name).join(';')
  const [path, query] = splitQuery(request.path)
  const canonical = [
    request.method ?? 'POST',
    path.split('/').map(encode).join('/'),
    query,
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    request.bodyDigest ?? hash(request.body),
  ].join('\n')
  const date = time.slice(0, 8)
  const scope = `${date}/${credential.region}/${credential.service}/aws4_request`
  const toSign = [ALGORITHM, time, scope, hash(canonical)].join('\n')
  const signature = createHmac('sha256', toSigningKey(credential, date)).update(toSign).digest('hex')
  headers.authorization = `${ALGORITHM} Credential=${credential.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
}

export function toSigningKey({ secretAccessKey, region, service }: AwsCredential, date: string): Buffer {
  let key: Buffer | string = `AWS4${secretAccessKey}`
  for (const part of [date, region, service, 'aws4_request']) {
    key = createHmac('sha256', key).update(part).digest()
  }
  return key as Buffer
}

/** What a proxy on the way leaves alone: the host, the body's type and AWS's own headers. Sorted by name. */
function listSigned({ origin, headers }: UpstreamRequest): [string, string][] {
  const signed: [string, string][] = [['host', origin.slice(origin.indexOf('//') + 2)]]
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-type' || name.startsWith('x-amz-')) signed.push([name, value])
  }
  return signed.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The query sorted by its encoded names, then values. */
function splitQuery(pathAndQuery: string): [path: string, query: string] {
  const at = pathAndQuery.indexOf('?')
  if (at === -1) return [pathAndQuery, '']
  const pairs = pathAndQuery
    .slice(at + 1)
    .split('&')
    .map(pair => (pair.includes('=') ? pair : `${pair}=`))
  return [pathAndQuery.slice(0, at), pairs.sort().join('&')]
}

/** A segment that is encoded already is encoded again: that is AWS's rule for every service but S3. */
function encode(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function hash(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
