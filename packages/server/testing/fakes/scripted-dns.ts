import dgram from 'node:dgram'
import net, { type AddressInfo } from 'node:net'

/** A DNS server for tests, on loopback by UDP and TCP. It answers as the test scripts it. */
export interface ScriptedDns {
  /** The address for a resolver's list of servers. */
  readonly server: string
  /** Every query so far, such as `a.test A`. Those that were repeated are listed again. */
  readonly queries: readonly string[]
  /** Sets the answers to the next queries for a name and its subdomains, by type of record. The last one repeats. */
  script(name: string, ...answers: DnsScript[]): void
  close(): Promise<void>
}

/** `hang`: no answer at all. Names without a script do not exist. */
export type DnsScript = 'hang' | 'unknown' | 'servfail' | 'refused' | DnsRecords

export interface DnsRecords {
  readonly a?: readonly string[]
  readonly aaaa?: readonly string[]
  /** The names that lead from the queried name to the addresses. */
  readonly aliases?: readonly string[]
  /** Seconds. Default: 300. */
  readonly ttl?: number
  /** True: the answer by UDP is cut, so that the resolver repeats its query by TCP. */
  readonly isCut?: boolean
  /** Answered in place of records. */
  readonly code?: keyof typeof CODES
  /** Record types that get no answer. */
  readonly hangs?: readonly ('A' | 'AAAA')[]
}

const TYPES = { 1: 'A', 28: 'AAAA' } as const
const CODES = { unknown: 3, servfail: 2, refused: 5 } as const
const CNAME = 5

interface Query {
  readonly id: number
  readonly name: string
  readonly type: 1 | 28
  readonly question: Buffer
}

export async function openScriptedDns(): Promise<ScriptedDns> {
  const queries: string[] = []
  const scripts = new Map<string, Record<'A' | 'AAAA', DnsScript[]>>()

  function answer(message: Buffer, isUdp: boolean): Buffer | undefined {
    const query = readQuery(message)
    const type = TYPES[query.type]
    queries.push(`${query.name} ${type}`)
    const left = findScripts(query.name)?.[type] ?? ['unknown']
    const script = (left.length > 1 ? left.shift() : left[0]) as DnsScript
    if (script === 'hang') return undefined
    if (typeof script === 'string') return encode(query, CODES[script], false, [])
    if (script.hangs?.includes(type) === true) return undefined
    if (script.code !== undefined) return encode(query, CODES[script.code], false, [])
    if (isUdp && script.isCut === true) return encode(query, 0, true, [])
    return encode(query, 0, false, encodeRecords(query, script))
  }

  function findScripts(name: string): Record<'A' | 'AAAA', DnsScript[]> | undefined {
    for (let rest = name; rest !== ''; rest = rest.split('.').slice(1).join('.')) {
      const found = scripts.get(rest)
      if (found !== undefined) return found
    }
    return undefined
  }

  const udp = dgram.createSocket('udp4')
  udp.on('message', (message, from) => {
    const reply = answer(message, true)
    if (reply !== undefined) udp.send(reply, from.port, from.address)
  })
  const sockets = new Set<net.Socket>()
  const tcp = net.createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    // A query is small enough to arrive at once.
    socket.on('data', bytes => {
      for (let at = 0; at + 2 <= bytes.length; at += 2 + bytes.readUInt16BE(at)) {
        const reply = answer(bytes.subarray(at + 2, at + 2 + bytes.readUInt16BE(at)), false)
        if (reply === undefined) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(reply.length)
        socket.write(Buffer.concat([length, reply]))
      }
    })
  })
  await new Promise<void>(resolve => tcp.listen(0, '127.0.0.1', resolve))
  const { port } = tcp.address() as AddressInfo
  await new Promise<void>(resolve => udp.bind(port, '127.0.0.1', resolve))
  return {
    server: `127.0.0.1:${port}`,
    queries,
    script: (name, ...answers) => scripts.set(name, { A: [...answers], AAAA: [...answers] }),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await Promise.all([
        new Promise<void>(resolve => udp.close(resolve)),
        new Promise(resolve => tcp.close(resolve)),
      ])
    },
  }
}

function readQuery(message: Buffer): Query {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1) as Query['type'],
    question: message.subarray(12, at + 5),
  }
}

function encode({ id, question }: Query, code: number, isCut: boolean, records: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(id, 0)
  // A response of a recursive server.
  head.writeUInt16BE(0x8180 | (isCut ? 0x0200 : 0) | code, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, question, ...records])
}

function encodeRecords({ name, type }: Query, script: DnsRecords): Buffer[] {
  const { a = [], aaaa = [], aliases = [], ttl = 300 } = script
  const owners = [name, ...aliases]
  const links = aliases.map((alias, i) => encodeRecord(owners[i] as string, CNAME, ttl, encodeName(alias)))
  const last = owners.at(-1) as string
  const addresses = type === 1 ? a.map(encodeV4) : aaaa.map(encodeV6)
  return [...links, ...addresses.map(bytes => encodeRecord(last, type, ttl, bytes))]
}

function encodeRecord(owner: string, type: number, ttl: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt32BE(ttl, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(owner), head, data])
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map(label => Buffer.from(`${String.fromCharCode(label.length)}${label}`))
  return Buffer.concat([...labels, Buffer.alloc(1)])
}

function encodeV4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** Encodes an address in full form or with one `::`, without a dotted tail. */
function encodeV6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const [front, back] = [head, tail].map(part => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
  return Buffer.from(groups.map(group => group.padStart(4, '0')).join(''), 'hex')
}
