import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HEADER_BYTES, MAX_FRAME_BYTES } from './frames.ts'
import { encodeHello, encodeWelcome, PROTOCOL_VERSION } from './hello.ts'
import { SupervisorChannel, type WorkerPeer } from './supervisor-channel.ts'
import type { Topic } from './topic.ts'
import { WorkerChannel, type WorkerChannelOptions } from './worker-channel.ts'

const NUMBER = 9

/** A topic that sends texts, one frame for each message. */
class Texts implements Topic {
  readonly received: string[] = []
  readonly closings: string[] = []
  readonly #schedule: () => void
  #texts: string[] = []

  constructor(schedule: () => void) {
    this.#schedule = schedule
  }

  send(text: string): void {
    this.#texts.push(text)
    this.#schedule()
  }

  take(): Buffer | undefined {
    if (this.#texts.length === 0) return undefined
    const frame = Buffer.from(' '.repeat(HEADER_BYTES) + this.#texts.join(','))
    this.#texts = []
    return frame
  }

  receive(payload: Buffer): void {
    const text = payload.toString()
    if (text === 'malformed') throw new Error('malformed')
    this.received.push(text)
  }

  closed(reason: string): void {
    this.closings.push(reason)
  }
}

function toFrame(topic: number, text: string): Buffer {
  const frame = Buffer.from(' '.repeat(HEADER_BYTES) + text)
  frame.writeUInt32LE(frame.length - 4, 0)
  frame[4] = topic
  return frame
}

describe('the channel of a worker to its supervisor', () => {
  let folder: string
  let supervisor: SupervisorChannel
  /** By the names of their workers. */
  let served: Map<string, Texts>
  let workers: WorkerChannel[]
  let sockets: Socket[]

  const openSupervisor = async (): Promise<void> => {
    supervisor = await SupervisorChannel.open({ folder, log: () => {}, heartbeatMs: 20, silentMs: 1000 })
    supervisor.setTopic(NUMBER, (peer: WorkerPeer) => {
      const texts = new Texts(() => peer.schedule(NUMBER))
      served.set(peer.worker, texts)
      return texts
    })
  }
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rideau-channel-'))
    served = new Map()
    workers = []
    sockets = []
    await openSupervisor()
  })
  afterEach(async () => {
    for (const worker of workers) worker.close()
    for (const socket of sockets) socket.destroy()
    await supervisor.close()
    rmSync(folder, { recursive: true })
  })

  const openWorker = (
    worker: string,
    options: Partial<WorkerChannelOptions> = {},
  ): { channel: WorkerChannel; texts: Texts } => {
    const channel = new WorkerChannel({ path: supervisor.path, worker, log: () => {}, ...options })
    workers.push(channel)
    const texts: Texts = new Texts(() => channel.schedule(NUMBER))
    channel.setTopic(NUMBER, texts)
    return { channel, texts }
  }
  const untilOpen = async ({ channel }: { channel: WorkerChannel }): Promise<void> =>
    expect(await channel.whenOpen(10_000)).toBe(true)
  const openRaw = (...frames: Buffer[]): { received: Buffer[]; ended: Promise<void> } => {
    const socket = connect(supervisor.path)
    sockets.push(socket)
    const received: Buffer[] = []
    socket.on('data', chunk => received.push(chunk)).on('error', () => {})
    for (const frame of frames) socket.write(frame)
    return { received, ended: new Promise(resolve => socket.once('close', () => resolve())) }
  }
  const hello = (worker: string): Buffer => toFrame(0, encodeHello({ worker, pid: 1 }))

  test('carries what both sides send, in order, what belongs to one tick in one frame', async () => {
    const [one, other] = [openWorker('one'), openWorker('other')]
    await untilOpen(one)
    await untilOpen(other)
    queueMicrotask(() => one.texts.send('b'))
    one.texts.send('a')
    await expect.poll(() => served.get('one')?.received).toEqual(['a,b'])
    served.get('one')?.send('c')
    served.get('other')?.send('d')
    await expect.poll(() => [...one.texts.received, ...other.texts.received]).toEqual(['c', 'd'])
    expect(supervisor.peers.map(({ worker }) => worker).sort()).toEqual(['one', 'other'])
  })

  test('carries a frame of the most bytes, and ends a connection that announces more', async () => {
    const one = openWorker('one')
    await untilOpen(one)
    const most = 'x'.repeat(MAX_FRAME_BYTES - HEADER_BYTES)
    one.texts.send(most)
    await expect.poll(() => served.get('one')?.received.map(({ length }) => length)).toEqual([most.length])
    one.texts.send(`${most}x`)
    await expect.poll(() => one.texts.closings).toEqual([expect.stringContaining('at most')])
    const tooLong = Buffer.alloc(HEADER_BYTES)
    tooLong.writeUInt32LE(MAX_FRAME_BYTES - 3, 0)
    await openRaw(hello('raw'), tooLong).ended
  })

  test.each<[string, Buffer]>([
    ['is no hello', toFrame(NUMBER, 'a')],
    ['is longer than a hello', toFrame(0, ' '.repeat(5000))],
    ['has another version', toFrame(0, JSON.stringify({ version: PROTOCOL_VERSION + 1, worker: 'raw' }))],
    ['has no name', toFrame(0, JSON.stringify({ version: PROTOCOL_VERSION }))],
    ['is no JSON', toFrame(0, 'hello')],
    ['is of HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['is empty', Buffer.alloc(HEADER_BYTES)],
  ])('ends a connection whose first frame %s, and no other', async (_, frame) => {
    const one = openWorker('one')
    await untilOpen(one)
    const raw = openRaw(frame)
    await raw.ended
    expect(raw.received).toEqual([])
    one.texts.send('a')
    await expect.poll(() => served.get('one')?.received).toEqual(['a'])
    expect(one.texts.closings).toEqual([])
  })

  test.each<[string, Buffer]>([
    ['is malformed for its topic', toFrame(NUMBER, 'malformed')],
    ['has no topic', toFrame(77, 'a')],
  ])('ends a connection with a frame that %s, and no other', async (_, frame) => {
    const one = openWorker('one')
    await untilOpen(one)
    await openRaw(hello('raw'), frame).ended
    expect(served.get('raw')?.closings).toHaveLength(1)
    expect(one.texts.closings).toEqual([])
  })

  test('reads frames that arrive byte by byte', async () => {
    const bytes = Buffer.concat([
      hello('raw'),
      toFrame(NUMBER, 'a'),
      toFrame(NUMBER, ''),
      toFrame(NUMBER, 'b'),
    ])
    openRaw(...Array.from(bytes, byte => Buffer.from([byte])))
    await expect.poll(() => served.get('raw')?.received).toEqual(['a', '', 'b'])
  })

  test('ignores the frame in whose middle a worker dies, and no other worker notices', async () => {
    const one = openWorker('one')
    await untilOpen(one)
    openRaw(hello('raw'), toFrame(NUMBER, 'a'), toFrame(NUMBER, 'b'.repeat(1000)).subarray(0, 500))
    await expect.poll(() => served.get('raw')?.received).toEqual(['a'])
    sockets.at(-1)?.destroy()
    await expect.poll(() => served.get('raw')?.closings).toHaveLength(1)
    expect(served.get('raw')?.received).toEqual(['a'])
    one.texts.send('a')
    await expect.poll(() => served.get('one')?.received).toEqual(['a'])
    expect(one.texts.closings).toEqual([])
  })

  test('ends a connection that never says hello', async () => {
    await openRaw().ended
  })

  test('is opened again after the supervisor has ended it; a worker has one connection at a time', async () => {
    const one = openWorker('one')
    await untilOpen(one)
    const first = served.get('one')
    openRaw(hello('one'))
    await expect.poll(() => one.texts.closings).toHaveLength(1)
    expect(first?.closings).toEqual(['the worker has connected again'])
    await untilOpen(one)
    expect(supervisor.peers).toHaveLength(1)
    one.texts.send('a')
    await expect.poll(() => served.get('one')?.received).toEqual(['a'])
  })

  test('stays closed to another life of the supervisor, and says why', async () => {
    const one = openWorker('one')
    await untilOpen(one)
    await supervisor.close()
    await expect.poll(() => one.channel.isOpen).toBe(false)
    await openSupervisor()
    await expect.poll(() => one.channel.reason).toContain('another supervisor')
    expect(one.channel.isOpen).toBe(false)
  })

  test('is given up by a worker whose supervisor says nothing, and by one with a supervisor of another version', async () => {
    const first = [
      toFrame(0, encodeWelcome({ run: 'r' })),
      toFrame(0, JSON.stringify({ version: 0, run: 'r' })),
    ]
    const path = join(folder, 'silent.sock')
    const silent = createServer(socket => {
      sockets.push(socket)
      socket.on('error', () => {}).resume()
      const frame = first.shift()
      if (frame !== undefined) socket.write(frame)
    })
    await new Promise<void>(resolve => silent.listen(path, resolve))
    const one = openWorker('one', { path, heartbeatMs: 5, silentMs: 50 })
    await untilOpen(one)
    await expect.poll(() => one.texts.closings).toEqual([expect.stringContaining('sent nothing for 50 ms')])
    await expect.poll(() => one.channel.reason).toContain('protocol version')
    silent.close()
  })
})
