import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly json: any
}

/** Writes one answer, or breaks the connection. */
export type Reply = (res: ServerResponse, request: ReceivedRequest) => void

export interface ScriptedServer {
  readonly url: string
  readonly received: readonly ReceivedRequest[]
  /** Requests whose connection the client closed before the answer's end. */
  readonly abandoned: readonly ReceivedRequest[]
  /** Answers the next requests to a path in this order; the last one also answers all further requests. */
  script(path: string, ...replies: readonly Reply[]): void
  countOf(path: string): number
  /** Resolves when the number of requests, or of abandoned ones, reaches `count`. */
  waitFor(what: 'received' | 'abandoned', count: number): Promise<void>
  close(): Promise<void>
}

/** A real HTTP server that answers by script and keeps what it received. */
export async function openScriptedServer(): Promise<ScriptedServer> {
  const scripts = new Map<string, Reply[]>()
  const received: ReceivedRequest[] = []
  const abandoned: ReceivedRequest[] = []
  const waiting: { isMet: () => boolean; resolve: () => void }[] = []
  const notify = (): void => waiting.filter(({ isMet }) => isMet()).forEach(({ resolve }) => resolve())
  const server = createServer((req, res) => {
    void readBody(req).then(body => {
      const request = toReceived(req, body)
      received.push(request)
      res.on('close', () => {
        if (!res.writableFinished) abandoned.push(request)
        notify()
      })
      notify()
      const replies = scripts.get(request.path) ?? []
      const reply = replies.length > 1 ? replies.shift() : replies[0]
      if (reply === undefined) throw new Error(`no script for ${request.path}`)
      reply(res, request)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    abandoned,
    script: (path, ...replies) => void scripts.set(path, [...replies]),
    countOf: path => received.filter(request => request.path === path).length,
    waitFor: (what, count) =>
      new Promise(resolve => {
        const list = what === 'received' ? received : abandoned
        if (list.length >= count) resolve()
        else waiting.push({ isMet: () => list.length >= count, resolve })
      }),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function toReceived(req: IncomingMessage, body: string): ReceivedRequest {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    json = undefined
  }
  const { method = '', url: path = '', headers } = req
  return { method, path, headers, body, json }
}

export function sendJson(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return res => {
    res.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1', ...headers })
    res.end(JSON.stringify(body))
  }
}

/** An error as the gateway sends it. */
export function sendError(
  status: number,
  code: string,
  headers: Record<string, string> = {},
  fields: Record<string, unknown> = {},
): Reply {
  const error = { code, message: `${code}.`, type: 'some_error', param: null, request_id: 'req-1', ...fields }
  return sendJson(status, { error }, headers)
}

/** Sends the frames of a stream as given and ends it. */
export function sendStream(...frames: readonly string[]): Reply {
  return res => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req-1' })
    for (const frame of frames) res.write(frame)
    res.end()
  }
}

/** Sends some frames and then breaks the connection, or just breaks it. */
export function breakAfter(...frames: readonly string[]): Reply {
  return res => {
    if (frames.length === 0) return void res.destroy()
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req-1' })
    for (const frame of frames) res.write(frame)
    // The frames must have left before the connection goes.
    res.write(': last\n\n', () => setImmediate(() => res.destroy()))
  }
}

/** Never answers. */
export const silence: Reply = () => {}

export function toFrame(delta: Record<string, unknown>, rest: Record<string, unknown> = {}): string {
  const choices = [{ index: 0, delta, finish_reason: null, ...rest }]
  return `data: ${JSON.stringify({ id: 'req-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`
}

export const DONE = 'data: [DONE]\n\n'

export function toErrorFrame(code: string): string {
  return `event: error\ndata: ${JSON.stringify({ error: { code, message: 'It broke.', param: null } })}\n\n`
}
