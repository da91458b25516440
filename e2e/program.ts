import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../packages/server/testing/harness/free-port.ts'

/** The shipped program as a separate process with its own data folder. */
export interface Program {
  readonly gatewayUrl: string
  readonly controlUrl: string
  readonly setupToken: string
  readonly pid: number
  /** The whole output so far. */
  output(): string
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>
  /** Asks the process to stop and waits. Returns the exit code. */
  stop(): Promise<number | null>
}

export interface ProgramHome {
  readonly dataDir: string
  start(env?: Record<string, string>): Promise<Program>
  remove(): void
}

const ROOT = path.join(import.meta.dirname, '..')
const SETUP_TOKEN = 'a set-up token for tests'
/** Less than a hook may take, so that a failure shows what the program wrote. */
const START_MS = 150_000
/** Another process may have taken the port in the meantime, and accept connections without an answer. */
const READY_MS = 5_000

/**
 * A data folder that is kept between the processes that use it. With `diskMiB` each process has a disk of its own of that size
 * there instead, which other processes see below `/proc/<pid>/root` and which ends with the process. With `processor` the program and
 * its database run on that one only.
 */
export async function openProgramHome({
  diskMiB,
  processor,
}: {
  diskMiB?: number
  processor?: number
} = {}): Promise<ProgramHome> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'rideau-e2e-'))
  const [gatewayPort, controlPort] = [await freePort(), await freePort()]
  return {
    dataDir,
    async start(env = {}) {
      const [file = '', ...args] = [
        ...(diskMiB === undefined ? [] : withOwnDisk(dataDir, diskMiB)),
        ...(processor === undefined ? [] : ['taskset', '-c', String(processor)]),
        ...[process.execPath, 'bin/rideau.mjs', 'start'],
      ]
      const child = spawn(file, args, {
        cwd: ROOT,
        env: {
          ...process.env,
          // As users start it.
          NODE_ENV: undefined,
          RIDEAU_DATA_DIR: dataDir,
          RIDEAU_GATEWAY_PORT: String(gatewayPort),
          RIDEAU_CONTROL_PORT: String(controlPort),
          RIDEAU_METRICS_PORT: '0',
          RIDEAU_SETUP_TOKEN: SETUP_TOKEN,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      return await openProgram(child, `http://127.0.0.1:${gatewayPort}`, `http://127.0.0.1:${controlPort}`)
    },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** The start of a command that runs another one, in the same process, with a new disk at `folder`. Needs root. */
export function withOwnDisk(folder: string, sizeMiB: number): string[] {
  const script = `mount -t tmpfs -o size=${sizeMiB}m,mode=755 tmpfs "$1" && shift && exec "$@"`
  return ['unshare', '--mount', 'sh', '-c', script, 'sh', folder]
}

async function openProgram(child: ChildProcess, gatewayUrl: string, controlUrl: string): Promise<Program> {
  let output = ''
  child.stdout?.on('data', chunk => {
    output += String(chunk)
  })
  child.stderr?.on('data', chunk => {
    output += String(chunk)
  })
  const exited = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)))
  await untilReady(child, controlUrl, () => output)
  return {
    gatewayUrl,
    controlUrl,
    setupToken: SETUP_TOKEN,
    pid: child.pid as number,
    output: () => output,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      return await exited
    },
  }
}

async function untilReady(child: ChildProcess, controlUrl: string, output: () => string): Promise<void> {
  for (const end = Date.now() + START_MS; Date.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}:\n${output()}`)
    const ready = await fetch(`${controlUrl}/readyz`, { signal: AbortSignal.timeout(READY_MS) }).catch(
      () => undefined,
    )
    if (ready?.status === 200) return
    await new Promise(resolve => setTimeout(resolve, 25))
  }
  child.kill('SIGKILL')
  throw new Error(`the program was not ready in ${START_MS} ms:\n${output()}`)
}

/** What set-up shows once. */
export interface Keys {
  readonly managementKey: string
  readonly secretKey: string
  readonly projectId: string
  readonly developmentId: string
}

/** First-run set-up over HTTP, as a new user does it. */
export async function setUp(program: Pick<Program, 'controlUrl' | 'setupToken'>): Promise<Keys> {
  const response = await fetch(`${program.controlUrl}/v1/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      setup_token: program.setupToken,
      email: 'owner@example.com',
      password: 'a long enough password',
      organization: { name: 'Test' },
    }),
  })
  const body = (await response.json()) as Record<string, any>
  if (response.status !== 201) throw new Error(`set-up failed: ${JSON.stringify(body)}`)
  const development = body.environments.find(
    (environment: { name: string }) => environment.name === 'development',
  )
  return {
    managementKey: body.management_key.key,
    secretKey: body.secret_key.key,
    projectId: body.project.id,
    developmentId: development.id,
  }
}

export interface Management {
  readonly controlUrl: string
  readonly managementKey: string
}

/** Calls the control plane. Returns the body of the answer, and throws if it is a refusal. */
export async function manage(
  { controlUrl, managementKey }: Management,
  method: string,
  route: string,
  body?: unknown,
): Promise<any> {
  const response = await fetch(controlUrl + route, {
    method,
    headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Stores a credential of a provider whose server is at `baseUrl`. */
export async function addProvider(
  { controlUrl }: Pick<Program, 'controlUrl'>,
  { managementKey, developmentId }: Keys,
  provider: string,
  baseUrl: string,
): Promise<void> {
  const credential = { provider, name: provider, api_key: 'k', base_url: baseUrl }
  const route = `/v1/environments/${developmentId}/provider-credentials`
  await manage({ controlUrl, managementKey }, 'POST', route, credential)
}
