import { randomUUID } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { type OnException, throwLater } from '../../core/on-exception.ts'
import { listenInFolder } from './channel-folder.ts'
import { encodeWelcome, parseHello } from './hello.ts'
import { Link } from './link.ts'
import type { Topic } from './topic.ts'

/** A worker that is connected. */
export interface WorkerPeer {
  /** The worker's name for itself. */
  readonly worker: string
  readonly pid: number
  readonly isOpen: boolean
  schedule(number: number): void
}

export interface SupervisorChannelOptions {
  /** The folder of the socket, if it can have one (channel-folder.ts). Only this process's user may enter it. */
  readonly folder: string
  readonly log: (line: string) => void
  readonly onException?: OnException
  readonly heartbeatMs?: number
  readonly silentMs?: number
}

/** Longer than for a supervisor: no process waits for a worker, whose requests with a reservation continue once it responds again. */
const SILENT_MS = 30_000

/** Creates the supervisor's side of a topic for each connection. */
export type OpenTopic = (peer: WorkerPeer) => Topic

/**
 * The supervisor's side of the channel. Each worker has one connection: a new one of the same worker ends the one before,
 * so that nothing of the old one is read after something of the new one.
 */
export class SupervisorChannel {
  readonly path: string
  readonly #options: SupervisorChannelOptions
  readonly #run = randomUUID()
  readonly #topics = new Map<number, OpenTopic>()
  readonly #server: Server
  readonly #unnamed = new Set<Link>()
  readonly #peers = new Map<string, Peer>()

  private constructor(path: string, options: SupervisorChannelOptions) {
    this.path = path
    this.#options = options
    this.#server = createServer(socket => this.#accept(socket))
  }

  /** Starts to listen. Set the topics before the first worker connects, so in the tick in which this resolves. */
  static async open(options: SupervisorChannelOptions): Promise<SupervisorChannel> {
    return await listenInFolder(options.folder, async path => {
      const channel = new SupervisorChannel(path, options)
      await channel.#listen()
      return channel
    })
  }

  async #listen(): Promise<void> {
    const { onException = throwLater } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ path: this.path, backlog: 511 }, () => {
        this.#server.off('error', reject)
        this.#server.on('error', error => onException(error, 'the socket of the workers'))
        resolve()
      })
    })
  }

  setTopic(number: number, openTopic: OpenTopic): void {
    this.#topics.set(number, openTopic)
  }

  /** The workers that are connected now. */
  get peers(): readonly WorkerPeer[] {
    return [...this.#peers.values()]
  }

  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    for (const link of this.#unnamed) link.close('the supervisor has closed the channel')
    for (const { link } of this.#peers.values()) link.close('the supervisor has closed the channel')
    await closed
  }

  #accept(socket: Socket): void {
    const { heartbeatMs, silentMs = SILENT_MS, log } = this.#options
    let peer: Peer | undefined
    const link = new Link({
      socket,
      heartbeatMs,
      silentMs,
      onFirst: text => {
        const { worker, pid } = parseHello(text)
        peer = new Peer(worker, pid, link)
        this.#add(peer)
      },
      onClosed: reason => {
        this.#unnamed.delete(link)
        if (peer === undefined) return log(`a connection to the workers' socket was ended: ${reason}`)
        if (this.#peers.get(peer.worker) === peer) this.#peers.delete(peer.worker)
      },
    })
    this.#unnamed.add(link)
  }

  #add(peer: Peer): void {
    const { link, worker } = peer
    this.#unnamed.delete(link)
    this.#peers.get(worker)?.link.close('the worker has connected again')
    this.#peers.set(worker, peer)
    link.sendFirst(encodeWelcome({ run: this.#run }))
    for (const [number, openTopic] of this.#topics) {
      const topic = openTopic(peer)
      link.setTopic(number, topic)
      topic.opened?.()
    }
  }
}

class Peer implements WorkerPeer {
  readonly worker: string
  readonly pid: number
  readonly link: Link

  constructor(worker: string, pid: number, link: Link) {
    this.worker = worker
    this.pid = pid
    this.link = link
  }

  get isOpen(): boolean {
    return this.link.isOpen
  }

  schedule(number: number): void {
    this.link.schedule(number)
  }
}
