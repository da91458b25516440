import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LoopMonitor, type Measurement, openLoopMonitor } from './loop-monitor.ts'
import { addProvider, openProgramHome, type Program, type ProgramHome, setUp } from './program.ts'

const MiB = 1024 * 1024
/** Memory for one body of 32 MiB: received, joined, as text and as parsed values, before a garbage collection. */
const MAX_GROWTH_MIB = 350

let home: ProgramHome
let program: Program
let monitor: LoopMonitor
let secretKey: string
/** A provider that a tenant runs to harm the others. */
let upstream: Server
let upstreamAnswer: { status?: number; type?: string; body: string | Buffer } = { body: '' }

beforeAll(async () => {
  home = await openProgramHome()
  monitor = await openLoopMonitor()
  program = await home.start(monitor.env)
  const keys = await setUp(program)
  secretKey = keys.secretKey
  upstream = createServer((req, res) => {
    req.resume()
    const { status = 200, type = 'application/json', body } = upstreamAnswer
    res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
    res.end(body)
  })
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  await addProvider(program, keys, 'custom', `http://127.0.0.1:${port}/v1`)
  for (let at = 0; at < 50; at++) await send(CHAT(withField('1')))
})

afterAll(async () => {
  await program.stop()
  home.remove()
  upstream.closeAllConnections()
  upstream.close()
})

interface Attack {
  readonly url: string
  readonly body: string | Buffer
  readonly headers: Record<string, string>
}

async function send({ url, body, headers }: Attack): Promise<{ status: number; bytes: number }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as string,
  })
  return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
}

const fill = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length))
const list = (unit: string, bytes: number): string => `[${fill(`${unit},`, bytes)}${unit}]`
const numbered = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join()
const NEST = `${'['.repeat(60)}${']'.repeat(60)}`
const USER = '{"role":"user","content":"hi"}'
const withField = (text: string): string => `{"model":"sandbox/echo","messages":[${USER}],"x":${text}}`
const withCall = (id: string, args: string): string => {
  const call = { id, type: 'function', function: { name: 'f', arguments: args } }
  return JSON.stringify({ role: 'assistant', content: null, tool_calls: [call] })
}

const packed = (attack: Attack): Attack => ({
  url: attack.url,
  body: gzipSync(attack.body),
  headers: { ...attack.headers, 'content-encoding': 'gzip' },
})
const at = (route: string) => (body: string | Buffer) => ({
  url: program.gatewayUrl + route,
  body,
  headers: { authorization: `Bearer ${secretKey}` },
})
const CHAT = (body: string | Buffer): Attack => at('/openai/v1/chat/completions')(body)
const NATIVE = (body: string | Buffer): Attack => at('/v1/chat')(body)
const EDITS = (body: string): Attack => {
  const { url, headers } = at('/openai/v1/images/edits')(body)
  return { url, body, headers: { ...headers, 'content-type': 'multipart/form-data; boundary=b' } }
}
/** A request without a credential. */
const OPEN =
  (route: string) =>
  (body: string): Attack => ({ url: program.controlUrl + route, body, headers: {} })

const bombId = (): string => `c__rd1__${deflateRawSync(list('{}', 500 * 1024)).toString('base64url')}`

describe('a body that takes seconds and gigabytes to parse at once', () => {
  test.each([
    ['31 KB of gzip: pairs', 413, () => packed(CHAT(fill('{},', 31 * MiB)))],
    ['31 KB of gzip: a list', 413, () => packed(CHAT(withField(list('{}', 31 * MiB))))],
    ['gzip of lists 60 deep', 413, () => packed(CHAT(withField(list(NEST, 31 * MiB))))],
    ['empty objects', 413, () => CHAT(withField(list('{}', 31 * MiB)))],
    ['lists 60 deep', 413, () => CHAT(withField(list(NEST, 31 * MiB)))],
    ['numbers', 413, () => CHAT(withField(list('1', 31 * MiB)))],
    [
      'objects with names of their own',
      413,
      () => CHAT(withField(`[${numbered(2_000_000, n => `{"k${n}":0}`)}]`)),
    ],
    ['as many of them as pass', 200, () => CHAT(withField(`[${numbered(32_000, n => `{"k${n}":0}`)}]`))],
    ['a string of escapes', 200, () => CHAT(withField(`"${fill('\\n\\"\\\\', 30 * MiB)}"`))],
    ['white space', 200, () => CHAT(withField(`${fill(' ', 30 * MiB)}1`))],
    ['a name of 31 MiB', 400, () => NATIVE(withField('1').replace('"x"', `"${'k'.repeat(31 * MiB)}"`))],
    ['a name and colons', 400, () => CHAT(`{"${'k'.repeat(15_000)}"${':'.repeat(MiB)}1}`)],
    [
      'arguments of a tool',
      413,
      () => CHAT(`{"model":"sandbox/echo","messages":[${withCall('c', list('{}', 30 * MiB))},${USER}]}`),
    ],
    [
      'ids of tools that unpack',
      200,
      () =>
        NATIVE(
          `{"model":"sandbox/echo","messages":[${numbered(300, () => withCall(bombId(), '{}'))},${USER}]}`,
        ),
    ],
    [
      'a form with a name of 30 MiB',
      400,
      () => EDITS(`--b\r\nContent-Disposition: form-data; name="${'n'.repeat(30 * MiB)}"\r\n\r\nx\r\n--b--`),
    ],
    [
      'without a credential: 10 KB of gzip for a session',
      413,
      () => packed(OPEN('/v1/session')(list('{}', 10 * MiB))),
    ],
    [
      'without a credential: 10 KB of gzip for set-up',
      413,
      () => packed(OPEN('/v1/setup')(`{"a":${list(NEST, 10 * MiB)}}`)),
    ],
    [
      'without a credential: 10 MiB for an invitation',
      413,
      () => OPEN('/v1/invitations/accept')(`{${numbered(800_000, n => `"k${n}":0`)}}`),
    ],
  ] as [string, number, () => Attack][])(
    'blocks the event loop for less than a seventh of the time to parse it at once, and takes little memory: %s',
    async (_, status, make) => {
      const attack = make()
      const reports: Measurement[] = []
      for (let again = 0; again < 3; again++) {
        reports.push(
          await monitor.measure(async () => {
            const answer = await send(attack)
            expect(answer.status).toBe(status)
            expect(answer.bytes).toBeLessThan(8 * 1024)
          }),
        )
      }
      // The smallest of three, because other work on this machine can also delay the program.
      expect(Math.min(...reports.map(({ delayInReferences }) => delayInReferences))).toBeLessThan(1)
      expect(Math.min(...reports.map(({ growthMiB }) => growthMiB))).toBeLessThan(MAX_GROWTH_MIB)
    },
  )

  test('blocks the event loop no longer for eight concurrent bodies', async () => {
    const attack = CHAT(withField(`[${numbered(30_000, n => `{"k${n}":0}`)}]`))
    const reports: Measurement[] = []
    for (let again = 0; again < 3; again++) {
      reports.push(
        await monitor.measure(async () => {
          const answers = await Promise.all(Array.from({ length: 8 }, () => send(attack)))
          expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
        }),
      )
    }
    expect(Math.min(...reports.map(({ delayInReferences }) => delayInReferences))).toBeLessThan(1)
  })

  test('blocks the event loop no longer for two hundred concurrent bodies of the length that is parsed at once', async () => {
    const attack = CHAT(withField(`[${numbered(1_300, n => `{"k${n}":"${'x'.repeat(150)}"}`)}]`))
    expect(attack.body.length).toBeGreaterThan(200 * 1024)
    const { delayInReferences } = await monitor.measure(async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, () => send(attack)))
      expect(answers.every(({ status }) => status === 200)).toBe(true)
    })
    expect(delayInReferences).toBeLessThan(2)
  })
})

const answerWith = (text: string): string =>
  `{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"x":${text}}`
const answerWithCall = (args: string): string =>
  `{"id":"a","choices":[{"index":0,"message":${withCall('c', args)},"finish_reason":"tool_calls"}]}`
const FRAME = 'data: {"id":"a","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n'

describe('an answer of a provider that takes seconds to parse at once', () => {
  test.each<[string, number, () => typeof upstreamAnswer, boolean]>([
    ['empty objects', 503, () => ({ body: answerWith(list('{}', 31 * MiB)) }), false],
    ['lists 60 deep', 503, () => ({ body: answerWith(list(NEST, 31 * MiB)) }), false],
    ['as many objects as pass', 200, () => ({ body: answerWith(list('{}', 3 * 262_000)) }), false],
    ['numbers that pass', 200, () => ({ body: answerWith(list('1', 8_000_000)) }), false],
    ['arguments of a call', 503, () => ({ body: answerWithCall(list('{}', 31 * MiB)) }), false],
    ['an error report', 400, () => ({ status: 400, body: `{"error":${list('{}', 31 * MiB)}}` }), false],
    ['an error report in a 200', 503, () => ({ body: `{"error":${list('{}', 3 * 262_000)}}` }), false],
    [
      'events of a stream',
      200,
      () => ({
        type: 'text/event-stream',
        body: FRAME + fill(`data: {"x":${list('{}', 1_000_000)}}\n\n`, 10 * MiB),
      }),
      true,
    ],
    [
      'tool calls of a stream',
      200,
      () => ({
        type: 'text/event-stream',
        body:
          FRAME +
          Array.from({ length: 60_000 }, (_, index) => {
            const call = {
              index,
              id: `c${index}`,
              type: 'function',
              function: { name: 'f', arguments: '{}' },
            }
            return `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { tool_calls: [call] } }] })}\n\n`
          }).join(''),
      }),
      true,
    ],
  ])('blocks the event loop for less than the time to parse 4 MB: %s', async (_, status, make, stream) => {
    upstreamAnswer = make()
    const attack = CHAT(
      JSON.stringify({ model: 'custom/m', messages: [{ role: 'user', content: 'hi' }], stream }),
    )
    const reports: Measurement[] = []
    for (let again = 0; again < 3; again++) {
      reports.push(
        await monitor.measure(async () => {
          const answer = await send(attack)
          expect(answer.status).toBe(status)
        }),
      )
    }
    expect(Math.min(...reports.map(({ delayInReferences }) => delayInReferences))).toBeLessThan(1)
  })
})
