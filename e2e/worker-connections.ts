import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import http from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

export interface SendOptions {
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly mayMove?: boolean
}

/** Connections to one gateway worker, which are kept. */
export interface WorkerConnections {
  readonly pid: number
  /**
   * Sends a request on one of them. More requests than connections wait for one. Rejects if the worker has closed one, since
   * another one may be another worker's, unless the request `mayMove`.
   */
  send(path: string, options?: SendOptions): Promise<Answer>
  close(): void
}

/** The processes of the gateway workers of this supervisor. */
export function listWorkers(supervisor: number): number[] {
  return readdirSync(`/proc/${supervisor}/task`)
    .flatMap(thread => readFileSync(`/proc/${supervisor}/task/${thread}/children`, 'utf8').split(' '))
    .filter(child => child.trim() !== '')
    .map(Number)
    .filter(child => readCommandLine(child).includes('gateway-worker'))
}

/** Empty if the process has ended meanwhile. */
function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Counts the open connections of a process at this local port. */
export function countConnections(pid: number, port: string): number {
  const local = `:${Number(port).toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
  const established = rows.filter(row => row[1]?.endsWith(local) && row[3] === '01')
  const sockets = new Set(established.map(row => `socket:[${row[9]}]`))
  return readdirSync(`/proc/${pid}/fd`).filter(fd => sockets.has(readLink(`/proc/${pid}/fd/${fd}`))).length
}

/** Empty if the file was closed meanwhile. */
function readLink(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

/** Stops a process until `task` has ended: another worker accepts all connections meanwhile. */
export async function whileStopped<T>(pid: number, task: () => Promise<T>): Promise<T> {
  process.kill(pid, 'SIGSTOP')
  try {
    while (!/^\d+ \(.*\) T /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) await nextTick()
    return await task()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

/** Opens `count` connections to each of two workers. */
export async function connectToEach(
  gatewayUrl: string,
  [first, second]: readonly [number, number],
  count: number,
): Promise<[WorkerConnections, WorkerConnections]> {
  return [
    await whileStopped(second, () => connectTo(gatewayUrl, first, count)),
    await whileStopped(first, () => connectTo(gatewayUrl, second, count)),
  ]
}

/** Opens connections to the only worker that accepts now. */
async function connectTo(gatewayUrl: string, pid: number, count: number): Promise<WorkerConnections> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: count, maxFreeSockets: count })
  let opened = 0
  const send: WorkerConnections['send'] = (path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const request = http.request(gatewayUrl + path, { method, agent, headers }, async response => {
        const chunks: Buffer[] = []
        try {
          for await (const chunk of response) chunks.push(chunk as Buffer)
        } catch (error) {
          return reject(error)
        }
        const { statusCode: status = 0, headers: received } = response
        resolve({ status, headers: received, text: Buffer.concat(chunks).toString() })
      })
      request.on('error', reject)
      request.on('socket', socket => {
        if (socket.connecting) opened++
      })
      if (body === undefined) request.end()
      else request.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    })
  await Promise.all(Array.from({ length: count }, () => send('/healthz')))
  if (opened !== count) throw new Error(`${opened} connections were opened in place of ${count}`)
  const close = (): void => agent.destroy()
  return {
    pid,
    async send(path, options) {
      const answer = await send(path, options)
      if (opened !== count && options?.mayMove !== true) throw new Error('a connection was not kept')
      return answer
    },
    close,
  }
}

const nextTick = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
