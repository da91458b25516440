import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider for tests: a real HTTP server on loopback that answers as the test scripts it. */
export interface ScriptedUpstream {
  /** Without a path. */
  readonly origin: string
  /** The `base_url` of a credential: the origin and the version segment. */
  readonly baseUrl: string
  /** Every request so far, oldest first. */
  readonly requests: readonly UpstreamRequestSeen[]
  /** Sets the answers to the next requests. The last one repeats. */
  script(...answers: UpstreamAnswer[]): void
  close(): Promise<void>
}

export interface UpstreamRequestSeen {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
  readonly text: string
  /** The parsed JSON; empty if the body is empty or a form. */
  readonly body: Record<string, unknown>
  /** Resolves when the response has ended or its connection is closed. */
  readonly closed: Promise<void>
}

export type UpstreamAnswer = (res: ServerResponse, seen: UpstreamRequestSeen) => void | Promise<void>

/** What the creation of a credential asks a provider for. */
const LISTS = /\/(models|foundation-models|key)(\?.*)?$/

/**
 * `scriptsLists`: requests for the list of models are scripted and seen as all others. Otherwise they get a 404, since
 * every creation of a credential makes one.
 */
export async function openScriptedUpstream({ scriptsLists = false } = {}): Promise<ScriptedUpstream> {
  const requests: UpstreamRequestSeen[] = []
  let answers: UpstreamAnswer[] = []
  const server = http.createServer((req, res) => {
    if (!scriptsLists && req.method === 'GET' && LISTS.test(req.url ?? '')) {
      res.writeHead(404).end()
      return
    }
    void receive(req, res).then(seen => {
      requests.push(seen)
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer === undefined) res.writeHead(500).end('nothing scripted')
      else void answer(res, seen)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    script: (...scripted) => {
      answers = scripted
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const FORM = /^(multipart\/|application\/x-www-form-urlencoded)/

async function receive(req: IncomingMessage, res: ServerResponse): Promise<UpstreamRequestSeen> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString('utf8')
  const isForm = FORM.test(req.headers['content-type'] ?? '')
  return {
    path: req.url ?? '',
    headers: req.headers,
    bytes,
    text,
    body: text === '' || isForm ? {} : (JSON.parse(text) as Record<string, unknown>),
    closed: new Promise(resolve => res.once('close', () => resolve())),
  }
}

const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }

/** A chat completion without a stream in OpenAI's format. */
export function completion(content: string, fields: Record<string, unknown> = {}): UpstreamAnswer {
  return json(200, {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'scripted-model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: USAGE,
    ...fields,
  })
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): UpstreamAnswer {
  return res => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers })
    res.end(JSON.stringify(body))
  }
}

/** One chunk of a streamed completion. */
export function chunk(delta: Record<string, unknown>, finishReason: string | null = null): string {
  return frame({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }], usage: null })
}

export function usageChunk(usage: Record<string, unknown> = USAGE): string {
  return frame({ choices: [], usage })
}

export const DONE = 'data: [DONE]\n\n'

function frame(fields: Record<string, unknown>): string {
  const head = {
    id: 'chatcmpl-scripted',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'scripted-model',
  }
  return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`
}

/** A stream of these events, with one write for each. */
export function stream(...frames: string[]): UpstreamAnswer {
  return res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const each of frames) res.write(each)
    res.end()
  }
}

/** A stream whose connection breaks after these events. */
export function cutStream(...frames: string[]): UpstreamAnswer {
  return res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(frames.join(''), () => setImmediate(() => res.destroy()))
  }
}

/** A complete streamed answer with one chunk per word. */
export function streamedCompletion(...words: string[]): UpstreamAnswer {
  return stream(
    chunk({ role: 'assistant', content: '' }),
    ...words.map(word => chunk({ content: word })),
    chunk({}, 'stop'),
    usageChunk(),
    DONE,
  )
}
