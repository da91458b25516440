import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { toUrl } from '../packages/server/testing/harness/app.ts'
import { freePort } from '../packages/server/testing/harness/free-port.ts'
import { type LimitedApp, openLimitedApp } from '../packages/server/testing/harness/limited-app.ts'
import { startTestRedis, type TestRedis } from '../packages/server/testing/harness/redis.ts'
import { listWorkers } from './worker-connections.ts'

const ROOT = path.join(import.meta.dirname, '..')
const START_MS = 120_000

/** The shipped program as `rideau gateway`, a process of its own. */
export interface Gateway {
  readonly url: string
  call(body: unknown, key: string, headers?: Record<string, string>): Promise<Response>
  /** Kills all of its processes with SIGKILL. */
  kill(): Promise<void>
}

/** Gateways that share a database and a Redis server, and an app that manages them. */
export interface Fleet {
  readonly limited: LimitedApp
  readonly redis: TestRedis
  /** Starts a gateway on machine number `machine`: two starts with the same number use the same data folder. */
  start(machine: number): Promise<Gateway>
  close(): Promise<void>
}

export async function openFleet(): Promise<Fleet> {
  const redis = await startTestRedis()
  const shared = { REDIS_URL: redis.url, RIDEAU_MASTER_KEY: randomBytes(32).toString('base64') }
  const limited = await openLimitedApp(shared)
  const home = mkdtempSync(path.join(tmpdir(), 'rideau-fleet-'))
  const running = new Set<Gateway>()
  return {
    limited,
    redis,
    async start(machine) {
      const gateway = await startGateway({
        ...shared,
        DATABASE_URL: toUrl(limited.app.database.connection),
        RIDEAU_DATA_DIR: path.join(home, String(machine)),
      })
      running.add(gateway)
      return gateway
    },
    async close() {
      await Promise.all([...running].map(gateway => gateway.kill()))
      await limited.close()
      await redis.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function startGateway(env: Record<string, string>): Promise<Gateway> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, ['bin/rideau.mjs', 'gateway'], {
    cwd: ROOT,
    env: {
      ...process.env,
      // As users start it.
      NODE_ENV: undefined,
      RIDEAU_GATEWAY_PORT: String(port),
      RIDEAU_METRICS_PORT: '0',
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const kill = async (): Promise<void> => {
    const isRunning = child.exitCode === null && child.signalCode === null
    const workers = isRunning ? listWorkers(child.pid as number) : []
    // In one tick, so that no worker does anything without its supervisor.
    child.kill('SIGKILL')
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    await exited
  }
  for (const end = Date.now() + START_MS; ; ) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined)
    if (ready?.status === 200) break
    if (child.exitCode !== null || Date.now() > end) {
      await kill()
      throw new Error(`a gateway did not start:\n${output}`)
    }
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return {
    url,
    kill,
    call: (body, key, headers = {}) =>
      fetch(`${url}/v1/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  }
}
