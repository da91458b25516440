import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'
import { freePort } from './free-port.ts'

/** An empty Redis or Valkey server for one test, on a port of its own, without persistence. */
export interface TestRedis {
  readonly url: string
  /** Returns the id of the current process, which changes with a restart. */
  pid(): number
  /** Kills it, like a crash. */
  kill(): Promise<void>
  /** Starts it again, empty and at the same address. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** The server program of this machine; undefined if there is none. */
export const redisProgram: string | undefined = findProgram(['redis-server', 'valkey-server'])

if (redisProgram === undefined) {
  console.log(
    'skipped: every test of limits shared over Redis (neither redis-server nor valkey-server is installed)',
  )
}

export async function startTestRedis(): Promise<TestRedis> {
  if (redisProgram === undefined) throw new Error('no redis-server: guard the suite with redisProgram')
  const program = redisProgram
  const dir = mkdtempSync(join(tmpdir(), 'rideau-redis-'))
  const port = await freePort()
  let child = await launch(program, port, dir)
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: () => child.pid as number,
    kill,
    async start() {
      child = await launch(program, port, dir)
    },
    async stop() {
      await kill()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function launch(program: string, port: number, dir: string): Promise<ChildProcess> {
  const settings = {
    port,
    bind: '127.0.0.1',
    save: '',
    appendonly: 'no',
    dir,
    'maxmemory-policy': 'noeviction',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(program, args, { stdio: 'ignore' })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`${program} ended with ${code}`)))
  })
  failed.catch(() => {})
  await Promise.race([failed, untilListening(port)])
  return child
}

async function untilListening(port: number): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    if (await isListening(port)) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  throw new Error(`nothing listens on port ${port} after 10 s`)
}

function isListening(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    const end = (listens: boolean) => (): void => {
      socket.destroy()
      resolve(listens)
    }
    socket.once('connect', end(true))
    socket.once('error', end(false))
  })
}
