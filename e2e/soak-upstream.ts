import http, { type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider of the soak test. The model decides what it does. */
export interface SoakUpstream {
  readonly baseUrl: string
  close(): void
}

const USAGE = { prompt_tokens: 10, completion_tokens: 1000, total_tokens: 1010 }
const frame = (fields: object): string => `data: ${JSON.stringify({ id: 'a', model: 'm', ...fields })}\n\n`
const delta = (content: string): string =>
  frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const STREAM = [
  ...['a', 'b', 'c'].map(delta),
  frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  frame({ choices: [], usage: USAGE }),
  'data: [DONE]\n\n',
].join('')
const ANSWER = JSON.stringify({
  id: 'a',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: USAGE,
})
const LONG = delta('x'.repeat(16_000))

export async function openSoakUpstream(): Promise<SoakUpstream> {
  const server = http.createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (part: Buffer) => chunks.push(part))
    req.on('error', () => {})
    res.on('error', () => {})
    req.on('end', () => {
      // The list of models, which a new credential asks for.
      if (req.method === 'GET') {
        res.writeHead(404).end()
        return
      }
      const { model, stream } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
      if (model === 'silent') return
      const type = stream === true ? 'text/event-stream' : 'application/json'
      res.writeHead(200, { 'content-type': type })
      if (model === 'flood') flood(res)
      else res.end(stream === true ? STREAM : ANSWER)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Writes events as fast as they are read, without an end. */
function flood(res: ServerResponse): void {
  const write = (): void => {
    while (!res.destroyed && res.write(LONG));
  }
  res.on('drain', write)
  write()
}
