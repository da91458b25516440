// The built program with its own data folder and the keys that the clients' scripts use.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { root } from '../../tools/build.mjs'

const START_MS = 180_000
const SETUP_TOKEN = 'a set-up token for tests'

/** Starts the program on free ports. Resolves with its address, its keys, and `createKeys` for those of one client. */
export async function startGateway(env = {}) {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-clients-'))
  const [gateway, control] = [await freePort(), await freePort()]
  const child = spawn(process.execPath, ['bin/rideau.mjs', 'start'], {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: 'development',
      LOG_LEVEL: 'error',
      RIDEAU_DATA_DIR: dataDir,
      RIDEAU_GATEWAY_PORT: String(gateway),
      RIDEAU_CONTROL_PORT: String(control),
      RIDEAU_METRICS_PORT: '0',
      RIDEAU_SETUP_TOKEN: SETUP_TOKEN,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', chunk => {
    output = (output + chunk).slice(-10_000)
  })
  const exited = new Promise(resolve => child.once('exit', resolve))
  const controlUrl = `http://127.0.0.1:${control}`
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    fs.rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await untilReady(child, controlUrl, () => output)
    const tenant = await setUp(controlUrl)
    return { url: `http://127.0.0.1:${gateway}`, ...tenant, output: () => output, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilReady(child, controlUrl, output) {
  for (const end = Date.now() + START_MS; Date.now() < end; ) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}:\n${output()}`)
    const ready = await fetch(`${controlUrl}/readyz`).catch(() => undefined)
    if (ready?.status === 200) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`the program was not ready in ${START_MS} ms:\n${output()}`)
}

/** First-run set-up, as a new user does it. */
async function setUp(controlUrl) {
  const send = (route, body, key) => post(controlUrl + route, body, key)
  const made = await send('/v1/setup', {
    setup_token: SETUP_TOKEN,
    email: 'owner@example.com',
    password: 'a long enough password',
    organization: { name: 'Test' },
  })
  const environment = made.environments.find(({ name }) => name === 'development')
  const manage = (route, body) => send(route, body, made.management_key.key)
  const own = { projectId: made.project.id, environmentId: environment.id }
  return {
    secretKey: made.secret_key.key,
    environmentId: environment.id,
    manage,
    /** A project of its own, whose providers are at these addresses: `{ provider, base_url, api_key }`. */
    async createProject(name, credentials) {
      const project = await manage(`/v1/orgs/${made.project.org_id}/projects`, { name })
      const listed = await get(
        `${controlUrl}/v1/projects/${project.id}/environments`,
        made.management_key.key,
      )
      const environmentId = listed.data.find(each => each.name === 'development').id
      for (const credential of credentials) {
        await manage(`/v1/environments/${environmentId}/provider-credentials`, { name, ...credential })
      }
      return { projectId: project.id, environmentId }
    },
    /** A client's own keys: one for all it does, and one for each limit that it runs into. */
    async createKeys(name, { projectId, environmentId, rateWindowSeconds = 3 } = own) {
      const createKey = title =>
        manage(`/v1/environments/${environmentId}/keys`, { kind: 'secret', name: title })
      const [key, budget, quota, rate] = await Promise.all([1, 2, 3, 4].map(n => createKey(`${name} ${n}`)))
      const scope = ({ id }) => ({ scope: 'key', scope_ref: id })
      await Promise.all([
        manage(`/v1/projects/${projectId}/budgets`, {
          limit_usd: 0.000001,
          window: 'month',
          ...scope(budget),
        }),
        manage(`/v1/environments/${environmentId}/quotas`, {
          metric: 'tokens',
          window: 'month',
          limit: 1,
          ...scope(quota),
        }),
        manage(`/v1/environments/${environmentId}/limits`, {
          metric: 'requests',
          limit: 1,
          window_seconds: rateWindowSeconds,
          ...scope(rate),
        }),
      ])
      return {
        RIDEAU_KEY: key.key,
        RIDEAU_KEY_WITHOUT_BUDGET: budget.key,
        RIDEAU_KEY_WITHOUT_QUOTA: quota.key,
        RIDEAU_KEY_WITH_RATE: rate.key,
      }
    },
  }
}

async function post(url, body, key) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 201) throw new Error(`${url} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

async function get(url, key) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}
