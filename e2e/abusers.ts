import { setMaxListeners } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { createKeyText } from '../packages/server/core/access/key-format.ts'
import { systemRandom } from '../packages/server/core/random.ts'
import { openSoakUpstream } from './soak-upstream.ts'

/**
 * Ten callers that harm a gateway in ten ways, each with the weakest credential that reaches its way. It runs as a process
 * of its own (soak.test.ts): the settings are the first line of its input, then `attack`, with the names of the abusers that take part, and `pause` alternate.
 */

/** One abuser's organization. */
interface Tenant {
  readonly token: string
  readonly key: string
}

export interface AbuserSettings {
  readonly host: string
  readonly port: number
  /** One for each abuser that needs a credential, by its name. */
  readonly tenants: Readonly<Record<string, Tenant>>
}

/** How often each status came back, by abuser. 0: no answer. */
export type AbuserReport = Record<string, Record<number, number>>

const MiB = 1024 * 1024
const CHAT = '/openai/v1/chat/completions'
const HI = [{ role: 'user', content: 'hi' }]

interface Attack {
  readonly settings: AbuserSettings
  readonly tenant: Tenant
  readonly signal: AbortSignal
  note(status: number): void
}

const bearer = (credential: string): Record<string, string> => ({ authorization: `Bearer ${credential}` })

/** Opens `connections` connections, each of which sends one request after the other. */
async function flood(
  attack: Attack,
  connections: number,
  make: (count: number) => { body: string | Buffer; headers: Record<string, string> },
): Promise<void> {
  const { host, port } = attack.settings
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  let count = 0
  const loop = async (): Promise<void> => {
    while (!attack.signal.aborted) {
      const { body, headers } = make(count++)
      const status = await new Promise<number>(resolve => {
        const all = {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...headers,
        }
        const options = { host, port, agent, method: 'POST', path: CHAT, headers: all, signal: attack.signal }
        const req = http.request(options, res => {
          res.on('error', () => resolve(0))
          res.on('end', () => resolve(res.statusCode ?? 0))
          res.resume()
        })
        req.on('error', () => setTimeout(resolve, 20, 0))
        req.end(body)
      })
      attack.note(status)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  agent.destroy()
}

/** Keeps `connections` connections open. Those that are closed are opened again, at most `perSecond` of them. */
async function hold(
  attack: Attack,
  connections: number,
  perSecond: number,
  begin: (socket: net.Socket) => void,
): Promise<void> {
  const { settings, signal } = attack
  const open = new Set<net.Socket>()
  const timer = setInterval(() => {
    for (let left = perSecond / 20; left > 0 && open.size < connections; left--) {
      const socket = net.connect({ host: settings.host, port: settings.port })
      open.add(socket)
      socket.on('connect', () => begin(socket))
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        attack.note(0)
      })
    }
  }, 50)
  await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
  clearInterval(timer)
  for (const socket of open) socket.resetAndDestroy()
}

function head(credential: string, length: number, more = ''): string {
  const lines = [`POST ${CHAT} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${credential}`]
  return `${lines.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`
}

const whole = (credential: string, body: string): string => head(credential, Buffer.byteLength(body)) + body

const streamOf = (model: string): string => JSON.stringify({ model, stream: true, messages: HI })
const list = (unit: string, bytes: number): string =>
  `[${`${unit},`.repeat(Math.floor(bytes / (unit.length + 1)))}${unit}]`
const withField = (value: string): string => `{"model":"nobody/x","messages":[],"x":${value}}`
const NEST = `${'['.repeat(60)}${']'.repeat(60)}`
/** Text that packs to a half, as a body of the caller's own. */
const digits = (bytes: number): string => {
  let [state, text] = [7, '']
  while (text.length < bytes) {
    state = (state * 48_271) % 2_147_483_647
    text += state.toString(16)
  }
  return text
}

export const ABUSERS: Readonly<Record<string, (attack: Attack) => Promise<void>>> = {
  'refused flood': attack =>
    flood(attack, 64, () => ({
      body: JSON.stringify({ model: 'nobody/nothing', messages: HI }),
      headers: bearer(attack.tenant.token),
    })),
  'forged credentials': attack => {
    const [header, payload] = attack.tenant.token.split('.')
    return flood(attack, 64, count => {
      const forged = `${header}.${payload}.${Buffer.alloc(64, count).toString('base64url')}`
      const guessed = createKeyText({ kind: 'secret', environment: 'development' }, systemRandom)
      return { body: '{}', headers: bearer(count % 2 === 0 ? forged : guessed) }
    })
  },
  'huge gzip': attack => {
    const bodies = [
      gzipSync(withField(list('{}', 31 * MiB))),
      gzipSync(withField(`"${digits(4 * MiB)}"`)),
      gzipSync(withField(list('"abcdefgh"', MiB))),
    ]
    return flood(attack, 8, count => ({
      body: bodies[count % bodies.length] as Buffer,
      headers: { ...bearer(attack.tenant.key), 'content-encoding': 'gzip' },
    }))
  },
  'silent streams': attack =>
    hold(attack, 600, 300, socket => {
      socket.resume()
      socket.write(whole(attack.tenant.token, streamOf('custom/silent')))
    }),
  'unread streams': attack =>
    hold(attack, 200, 100, socket => {
      socket.write(whole(attack.tenant.key, streamOf('custom-flood/flood')))
    }),
  'slow uploads': attack =>
    hold(attack, 300, 150, socket => {
      socket.resume()
      socket.write(head(attack.tenant.token, MiB))
      const timer = setInterval(() => socket.write(' '), 500)
      socket.on('close', () => clearInterval(timer))
    }),
  'hanging images': attack => {
    const part = (count: number, at: number): object => ({
      type: 'image_url',
      image_url: { url: `https://n${count}-${at}.hang.test/a.png` },
    })
    return flood(attack, 50, count => ({
      body: JSON.stringify({
        model: 'gemini/gemini-2.5-flash',
        messages: [{ role: 'user', content: Array.from({ length: 4 }, (_, at) => part(count, at)) }],
      }),
      headers: bearer(attack.tenant.token),
    }))
  },
  'connection flood': attack =>
    hold(attack, 2_000, 1_000, socket => {
      // Half of them stay open and silent, half end at once.
      if (Math.random() < 0.5) socket.destroy()
    }),
  'deep JSON': attack => {
    const bodies = [withField(list(NEST, 8 * MiB)), withField(list('{}', 390_000)), '['.repeat(MiB)]
    return flood(attack, 8, count => ({
      body: bodies[count % bodies.length] as string,
      headers: bearer(attack.tenant.key),
    }))
  },
  'large metadata': attack => {
    const pairs = Array.from({ length: 16 }, (_, at) => [`key_${at}`, 'ü'.repeat(512)])
    const body = JSON.stringify({ model: 'nobody/x', messages: HI, metadata: Object.fromEntries(pairs) })
    return flood(attack, 32, () => ({ body, headers: bearer(attack.tenant.token) }))
  },
}

/**
 * Reads the settings and the commands from the input. Prints the address of a provider of its own, which sends endless
 * streams, then one line for each command once it is obeyed.
 */
export async function runAbusers(lines: AsyncIterable<string>): Promise<void> {
  let settings: AbuserSettings | undefined
  let abort = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const report: AbuserReport = {}
  process.stdout.write(`${(await openSoakUpstream()).baseUrl}\n`)
  for await (const line of lines) {
    if (settings === undefined) {
      settings = JSON.parse(line) as AbuserSettings
      continue
    }
    if (line.startsWith('attack ')) {
      const names = line.slice('attack '.length).split(',')
      abort = new AbortController()
      const { signal } = abort
      setMaxListeners(0, signal)
      const common = { settings, signal }
      running = Promise.all(
        names.map(async name => {
          const counts = (report[name] ??= {})
          const note = (status: number): void => void (counts[status] = (counts[status] ?? 0) + 1)
          const tenant = (common.settings.tenants[name] ?? {}) as Tenant
          await ABUSERS[name]?.({ ...common, tenant, note })
        }),
      )
    } else {
      abort.abort()
      await running
    }
    process.stdout.write(`${JSON.stringify(report)}\n`)
  }
}
