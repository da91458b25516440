import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy before a Redis server: tests delay its replies, or lead clients to another server as a failover does. */
export class RedisProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target: number
  /** Delay of every reply, in ms. */
  delayMs = 0
  /** Ends all connections in place of passing on the next commands that contain this text. */
  cutOn: string | undefined

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer(client => this.#serve(client))
  }

  /** `url`: address of the server. */
  static async open(url: string): Promise<RedisProxy> {
    const proxy = new RedisProxy(Number(new URL(url).port))
    await new Promise<void>(resolve => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    const { port } = this.#server.address() as { port: number }
    return `redis://127.0.0.1:${port}`
  }

  /** Leads clients to another server and ends their connections. */
  switchTo(url: string): void {
    this.#target = Number(new URL(url).port)
    this.#cut()
  }

  close(): void {
    this.#server.close()
    this.#cut()
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #serve(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1')
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        client.destroy()
        server.destroy()
      })
    }
    client.on('data', chunk => {
      if (this.cutOn === undefined || !chunk.includes(this.cutOn)) return server.write(chunk)
      this.cutOn = undefined
      return this.#cut()
    })
    server.on('data', chunk => {
      if (this.delayMs === 0) client.write(chunk)
      else setTimeout(() => client.write(chunk), this.delayMs)
    })
  }
}
