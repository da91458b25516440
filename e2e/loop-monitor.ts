import { expect } from 'vitest'
import { freePort } from '../packages/server/testing/harness/free-port.ts'

/**
 * Runs within the program. Reports how much its main thread worked at most between two of its timers, which is how long its event
 * loop was blocked on a machine without other work, and how much its memory grew since the last reset. The reference is the time to
 * parse 4 MB of `{},` at once. CPU time where the system tells it of a thread, as Linux does.
 */
const MONITOR = `
  import { readFileSync } from 'node:fs'
  import { createServer } from 'node:http'
  const readMs = () => {
    try {
      return Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'latin1').split(' ')[0]) / 1e6
    } catch {
      return performance.now()
    }
  }
  let at = readMs()
  let delayMs = 0
  let base = 0
  let peak = 0
  const look = () => {
    const now = readMs()
    delayMs = Math.max(delayMs, now - at)
    at = now
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  const answers = {
    '/reset': () => { look(); delayMs = 0; base = process.memoryUsage.rss(); peak = base },
    '/reference': () => {
      const text = '[' + '{},'.repeat(1400000) + '{}]'
      const start = readMs()
      JSON.parse(text)
      return { delayMs: readMs() - start }
    },
    '/report': () => { look(); return { delayMs, growthMiB: (peak - base) / 1048576 } },
  }
  setInterval(look, 5).unref()
  const server = createServer((req, res) => {
    setTimeout(() => res.end(JSON.stringify(answers[req.url]() ?? {})), 25)
  })
  server.on('error', () => {})
  server.listen(Number(process.env.MONITOR_PORT), '127.0.0.1')
  server.unref()
`

/** So many references are 50 to 100 ms. Newer versions of Node parse the reference in half the time. */
const SHORT_IN_REFERENCES = Number.parseInt(process.versions.node, 10) >= 24 ? 0.5 : 0.3

interface Report {
  readonly delayMs: number
  readonly growthMiB: number
}

export interface Measurement extends Report {
  /** The delay as a multiple of the reference, which is measured right before: other work on the machine slows both. */
  readonly delayInReferences: number
}

export interface LoopMonitor {
  /** With these variables the program is started. It serves its gateway in the process that is measured. */
  readonly env: Readonly<Record<string, string>>
  /** Measures the program while some work is done. */
  measure(work: () => Promise<unknown>): Promise<Measurement>
}

export async function openLoopMonitor(): Promise<LoopMonitor> {
  const port = await freePort()
  const ask = async (path: string): Promise<Report> => {
    // A kept connection may be closed by the monitor just when it is used again.
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
    return (await response.json()) as Report
  }
  return {
    env: {
      RIDEAU_WORKERS: '1',
      MONITOR_PORT: String(port),
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(MONITOR)}`,
    },
    async measure(work) {
      const reference = await ask('/reference')
      await ask('/reset')
      await work()
      const report = await ask('/report')
      return { ...report, delayInReferences: report.delayMs / reference.delayMs }
    },
  }
}

/** Does long work until it holds the event loop shortly: a collection of garbage may come in any of three attempts. */
export async function expectShort(monitor: LoopMonitor, work: () => Promise<unknown>): Promise<void> {
  const delays: number[] = []
  while (delays.length < 3 && !delays.some(delay => delay < SHORT_IN_REFERENCES)) {
    const { delayInReferences } = await monitor.measure(work)
    delays.push(delayInReferences)
  }
  expect(Math.min(...delays)).toBeLessThan(SHORT_IN_REFERENCES)
}
