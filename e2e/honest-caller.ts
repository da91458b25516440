import http from 'node:http'

/** A caller that sends a few requests at a time, keeps its connections and reads its answers. */
export interface HonestCaller {
  /** Requests answered with 200 so far. */
  readonly answered: () => number
  /** What other requests were answered with. */
  readonly others: readonly (readonly [status: number, text: string])[]
  /** Sends requests for `forMs` milliseconds. Returns the 99th percentile of their latencies in milliseconds. */
  measure(forMs: number): Promise<number>
  close(): void
}

export interface HonestCallerOptions {
  readonly url: string
  readonly key: string
  readonly bodies: readonly string[]
}

const CALLERS = 4
/** A pause after each answer. */
const PAUSE_MS = 10

export function openHonestCaller({ url, key, bodies }: HonestCallerOptions): HonestCaller {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CALLERS })
  const others: [number, string][] = []
  let answered = 0
  let sent = 0

  function send(): Promise<[number, string]> {
    const body = bodies[sent++ % bodies.length] as string
    return new Promise(resolve => {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      const req = http.request(url, { agent, method: 'POST', headers }, res => {
        let text = ''
        res.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        res.on('error', error => resolve([0, String(error)]))
        res.on('end', () => resolve([res.statusCode ?? 0, text]))
      })
      req.on('error', error => resolve([0, String(error)]))
      req.end(body)
    })
  }

  async function work(until: number, latencies: number[]): Promise<void> {
    while (performance.now() < until) {
      const start = performance.now()
      const [status, text] = await send()
      latencies.push(performance.now() - start)
      if (status === 200) answered++
      else others.push([status, text.slice(0, 200)])
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    }
  }

  return {
    answered: () => answered,
    others,
    async measure(forMs) {
      const latencies: number[] = []
      const until = performance.now() + forMs
      await Promise.all(Array.from({ length: CALLERS }, () => work(until, latencies)))
      latencies.sort((a, b) => a - b)
      return latencies[Math.floor(latencies.length * 0.99)] ?? 0
    },
    close: () => agent.destroy(),
  }
}
