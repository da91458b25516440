import { generateKeyPairSync } from 'node:crypto'
import { type AddressInfo, createServer, type LookupFunction, type Server } from 'node:net'
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from 'node:tls'
import { Agent, type buildConnector, request } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import {
  authorityExtensions,
  createAuthority,
  toPem,
  writeCertificate,
} from '../../testing/fakes/certificate-writer.ts'
import { der, sequence } from '../../testing/fakes/der-writer.ts'
import { type LookupOwner, toLookupOwner } from '../names/lookup-slots.ts'
import { type BoundedTlsOptions, buildBoundedConnector } from './bounded-tls.ts'
import { SlowHandshakes } from './slow-handshakes.ts'

const NAME = 'host.test'
const root = createAuthority('root')
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = String(keys.privateKey.export({ type: 'pkcs8', format: 'pem' }))
const cert = toPem(writeLeaf(root, keys.publicKey))
const rsaLeaf = {
  key: String(rsa.privateKey.export({ type: 'pkcs8', format: 'pem' })),
  cert: toPem(writeLeaf(root, rsa.publicKey)),
}

function writeLeaf(issuer: typeof root, publicKey: typeof keys.publicKey): Buffer {
  const names = { id: '2.5.29.17', value: sequence(der(0x82, Buffer.from(NAME))) }
  return writeCertificate({ subject: NAME, publicKey, issuer, serial: 7, extensions: [names] })
}

/** A chain of so many certificates, each of which the next one signed. */
function writeChain(length: number): string {
  const first = createAuthority('ca 0', undefined, { keys })
  let chain = ''
  let issuer = first
  for (let at = 1; at < length; at++) {
    issuer = createAuthority(`ca ${at}`, issuer, { keys, extensions: authorityExtensions() })
    chain = toPem(issuer.certificate) + chain
  }
  return toPem(writeLeaf(issuer, keys.publicKey)) + chain
}

const lookup: LookupFunction = (_, options, callback) =>
  options.all === true
    ? callback(null, [{ address: '127.0.0.1', family: 4 }])
    : callback(null, '127.0.0.1', 4)

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function listen(server: Server): Promise<number> {
  closers.push(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function serve(options: TlsOptions, body = 'ok'): Promise<number> {
  const server = createTlsServer({ key, cert, ...options }, socket => {
    socket.on('error', () => {})
    socket.on('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    })
  })
  server.on('tlsClientError', () => {})
  return listen(server)
}

function build(options: Partial<BoundedTlsOptions>, owner = toLookupOwner('org')): buildConnector.connector {
  const defaults = { timeoutMs: 5_000, lookup, handshakes: new SlowHandshakes(), ca: toPem(root.certificate) }
  const connect = buildBoundedConnector({ ...defaults, ...options })
  return (target, callback) => connect(target, callback, owner)
}

async function get(
  port: number,
  isTrustedHost?: () => boolean,
  options: Partial<BoundedTlsOptions> = {},
  owner?: LookupOwner,
): Promise<string> {
  const agent = new Agent({ connect: build({ isTrustedHost, ...options }, owner) })
  closers.push(() => void agent.destroy())
  try {
    const answer = await request(`https://${NAME}:${port}/`, { dispatcher: agent })
    return await answer.body.text()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message
  }
}

describe.each([
  ['counted', () => false],
  ['trusted', () => true],
])('a %s host', (_, isTrustedHost) => {
  test.each<[string, TlsOptions]>([
    ['TLS 1.3', {}],
    ['TLS 1.2 and ECDHE', { maxVersion: 'TLSv1.2' }],
    ['TLS 1.2, ECDHE and RSA', { maxVersion: 'TLSv1.2', ...rsaLeaf }],
    ['DHE beside ECDHE', { dhparam: 'auto', maxVersion: 'TLSv1.2', ...rsaLeaf }],
  ])('with %s is reached', async (_name, options) => {
    expect(await get(await serve(options), isTrustedHost)).toBe('ok')
  })

  test.each<[string, TlsOptions]>([
    ['DHE', { dhparam: 'auto', maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256', ...rsaLeaf }],
    ['groups of finite fields', { minVersion: 'TLSv1.3', ecdhCurve: 'ffdhe2048' }],
  ])('with nothing but %s finds no common ground', async (_name, options) => {
    expect(await get(await serve(options), isTrustedHost)).toMatch(/^ERR_SSL_.*ALERT_HANDSHAKE_FAILURE$/)
  })

  test('with a certificate of another authority is not reached', async () => {
    const other = createAuthority('other')
    const port = await serve({ cert: toPem(writeLeaf(other, keys.publicKey)) })
    expect(await get(port, isTrustedHost)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE')
  })

  test('that closes the connection at once is not reached', async () => {
    const port = await listen(createServer(socket => socket.destroy()))
    expect(await get(port, isTrustedHost)).toMatch(/^(ECONNRESET|EPIPE)$/)
  })

  test('where nothing listens is not reached', async () => {
    const server = createServer()
    const port = await listen(server)
    await new Promise(resolve => server.close(resolve))
    expect(await get(port, isTrustedHost)).toBe('ECONNREFUSED')
  })

  test('that never answers the handshake runs into the timeout', async () => {
    const port = await listen(createServer(socket => socket.on('error', () => {})))
    const connect = build({ timeoutMs: 300, isTrustedHost })
    const error = await new Promise(resolve =>
      connect({ protocol: 'https:', hostname: NAME, host: NAME, port: String(port) }, (...[failure]) =>
        resolve(failure),
      ),
    )
    expect(error).toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' })
  })

  test('sends answers that are much longer than a handshake', async () => {
    const body = 'x'.repeat(4 * 1024 * 1024)
    expect((await get(await serve({}, body), isTrustedHost)).length).toBe(body.length)
  })
})

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a chain of certificates in %s', version => {
  const tls = { minVersion: version, maxVersion: version }

  test('of usual length is read and verified', async () => {
    expect(await get(await serve({ ...tls, cert: writeChain(8) }))).toBe('UNABLE_TO_GET_ISSUER_CERT_LOCALLY')
  })

  test('that is longer than a handshake may be ends the connection before it is verified', async () => {
    const port = await serve({ ...tls, cert: writeChain(80) })
    expect(await get(port)).toBe('the TLS handshake is longer than 16384 bytes')
  })
})

describe('after slow handshakes', () => {
  const SLOW = 'earlier TLS handshakes took too long'
  const user = (id: string, orgId = 'org'): LookupOwner => ({
    environment: { id: `env of ${orgId}`, orgId },
    caller: { keyId: 'key' },
    endUser: { id },
  })

  /** Each handshake takes `milliseconds` by the stopwatch. */
  function open() {
    const clock = { time: 0, now: () => clock.time }
    const state = { milliseconds: 30, starts: 0 }
    const stopwatch = (): (() => number) => {
      state.starts++
      return () => state.milliseconds
    }
    const handshakes = new SlowHandshakes({ clock, stopwatch })
    const as = (owner: LookupOwner) => (port: number) => get(port, undefined, { handshakes }, owner)
    return { clock, state, as, handshakes }
  }

  const foreign = toPem(writeLeaf(createAuthority('other'), keys.publicKey))

  /** Returns the ports of so many servers, how often they were connected to, and what gives them a certificate that is trusted or not. */
  async function openHosts(count: number) {
    let connections = 0
    const servers: TlsServer[] = []
    const hosts = await Promise.all(
      Array.from({ length: count }, async () => {
        const server = createTlsServer({ key, cert: foreign }, socket => {
          socket.on('error', () => {})
          socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'))
        })
        server.on('connection', () => connections++)
        servers.push(server)
        return await listen(server)
      }),
    )
    const certify = (): void => {
      for (const server of servers) server.setSecureContext({ key, cert })
    }
    return { hosts, connections: () => connections, certify }
  }

  test('with a host it is not connected to for ten minutes, by anybody', async () => {
    const { clock, as } = open()
    const { hosts, connections, certify } = await openHosts(2)
    const [slow, other] = hosts as [number, number]
    await as(user('a'))(slow)
    await as(user('b'))(slow)
    certify()
    const before = connections()
    expect(await as(user('c', 'elsewhere'))(slow)).toBe(SLOW)
    expect(connections()).toBe(before)
    expect(await as(user('c', 'elsewhere'))(other)).toBe('ok')
    clock.time = 600_000
    expect(await as(user('d', 'elsewhere'))(slow)).toBe('ok')
  })

  test('an end user reaches no host, and other end users do', async () => {
    const { clock, state, as } = open()
    const { hosts, certify } = await openHosts(3)
    for (const host of hosts.slice(0, 2)) await as(user('a'))(host)
    certify()
    state.milliseconds = 1
    const [last = 0] = hosts.slice(2)
    expect(await as(user('a'))(last)).toBe(SLOW)
    expect(await as(user('b'))(last)).toBe('ok')
    clock.time = 600_000
    expect(await as(user('a'))(last)).toBe('ok')
  })

  test('an organization with many hosts and end users reaches no host, and other organizations do', async () => {
    const { state, as, handshakes } = open()
    for (let at = 0; at < 8; at++) handshakes.watch(user(`user ${at}`), `host ${at}`).note(25)
    const { hosts, certify } = await openHosts(1)
    certify()
    const [host = 0] = hosts
    state.milliseconds = 1
    expect(await as(user('fresh'))(host)).toBe(SLOW)
    expect(await as(user('fresh', 'elsewhere'))(host)).toBe('ok')
  })

  test('a handshake that has begun goes no further', async () => {
    const { as, handshakes } = open()
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => {
        for (let at = 0; at < 2; at++) handshakes.watch(toLookupOwner('org'), 'other').note(25)
        for (let at = 0; at < 6; at++) handshakes.watch(toLookupOwner('org'), `host ${at}`).note(25)
        socket.write('anything')
      })
    })
    expect(await as(toLookupOwner('org'))(await listen(server))).toBe(SLOW)
  })

  test('usual ones are not counted', async () => {
    const { state, as } = open()
    state.milliseconds = 24
    const { hosts } = await openHosts(1)
    const [host = 0] = hosts
    const failure = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
    for (let at = 0; at < 10; at++) expect(await as(user('a'))(host)).toBe(failure)
    expect(state.starts).toBeGreaterThanOrEqual(10)
  })

  test('those with a chain that is trusted are not counted', async () => {
    const { as } = open()
    const { hosts, certify } = await openHosts(1)
    certify()
    const [host = 0] = hosts
    for (let at = 0; at < 10; at++) expect(await as(user('a'))(host)).toBe('ok')
  })

  test('those with chains that are not trusted are counted', async () => {
    const { handshakes } = open()
    const port = await serve({ cert: writeChain(8) })
    const failure = 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'
    expect(await get(port, undefined, { handshakes })).toBe(failure)
    await get(port, undefined, { handshakes })
    expect(await get(port, undefined, { handshakes })).toBe(SLOW)
  })
})
