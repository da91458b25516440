// What is measured: the mock upstream itself (the lower bound), nginx as a plain proxy (the reference), and Rideau.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { buildServer, root } from '../tools/build.mjs'
import { findFreePort, findProgram, isListening, pinned, startProcess } from './processes.mjs'

/** Contenders have a core of their own; the mock upstream and the load share the other. */
export const CONTENDER_CORE = 0
export const LOAD_CORE = 1

export const START_TIMEOUT_MS = 60_000
export const PROXY_KEY = 'sk-bench-0123456789abcdef0123456789abcdef0123456789'

/**
 * A contender: its process (`pid`), where and how to call it (`headers` besides its key), which of its processes are measured separately, `keys`
 * (resolves with as many keys as it is asked for), `check` (throws if it did not do all its work), `stop`.
 */
export const plainTarget = {
  headers: [],
  path: '/v1/chat/completions',
  /** By format, for scenarios that are translated. */
  routes: {},
  key: PROXY_KEY,
  keys: async count => Array.from({ length: count }, () => PROXY_KEY),
  modelPrefix: '',
  apart: [],
  warmUpSeconds: 0.5,
  /** The shortest sample that says something. */
  minSeconds: 0,
  check: async () => {},
}

export async function startMock(program, folder) {
  const port = await findFreePort()
  const server = startProcess(pinned(LOAD_CORE, [program, '-p', String(port)]), path.join(folder, 'mock.log'))
  await server.waitUntil(() => isListening(port), START_TIMEOUT_MS)
  return { ...plainTarget, name: 'mock alone', port, pid: server.pid, stop: server.stop }
}

/** nginx with one worker and kept connections; undefined if it is not installed. */
export async function startNginx(mockPort, folder) {
  const nginx = findProgram('nginx')
  if (nginx === undefined) return undefined
  const port = await findFreePort()
  const config = path.join(folder, 'nginx.conf')
  fs.writeFileSync(config, nginxConfig(port, mockPort, folder))
  const command = [nginx, '-p', folder, '-c', config, '-e', path.join(folder, 'nginx.log')]
  const server = startProcess(pinned(CONTENDER_CORE, command), path.join(folder, 'nginx.log'))
  await server.waitUntil(() => isListening(port), START_TIMEOUT_MS)
  return { ...plainTarget, name: 'nginx', port, pid: server.pid, stop: server.stop }
}

/** Raw sockets in Node (raw-relay.mjs): the lower bound of what a gateway in it can cost. */
export async function startRawRelay(mockPort, folder) {
  const port = await findFreePort()
  const program = path.join(root, 'bench/raw-relay.mjs')
  const args = [port, mockPort, PROXY_KEY, path.join(folder, 'relay.jsonl')].map(String)
  const server = startProcess(
    pinned(CONTENDER_CORE, [process.execPath, program, ...args]),
    path.join(folder, 'relay.log'),
  )
  await server.waitUntil(() => isListening(port), START_TIMEOUT_MS)
  return { ...plainTarget, name: 'raw relay', port, pid: server.pid, stop: server.stop, warmUpSeconds: 20 }
}

function nginxConfig(port, mockPort, folder) {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
    daemon off;
    worker_processes 1;
    pid ${folder}/nginx.pid;
    events { worker_connections 12288; }
    http {
      access_log off;
      keepalive_requests 100000000;
      client_max_body_size 32m;
      client_body_buffer_size 1m;
      ${temp.map(kind => `${kind}_temp_path ${folder}/${kind};`).join('\n')}
      upstream mock { server 127.0.0.1:${mockPort}; keepalive 256; keepalive_requests 100000000; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://mock;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_buffering off;
        }
      }
    }`
}

/**
 * The shipped program with its embedded database, set up through its own routes like any deployment. It runs on `core`; null: on all.
 * `node`: the program that runs it.
 */
export async function startRideau(
  mockPort,
  folder,
  { core = CONTENDER_CORE, workers = 1, node = process.execPath } = {},
) {
  fs.mkdirSync(folder, { recursive: true, mode: 0o755 })
  const logFile = path.join(folder, 'rideau.log')
  await buildServer()
  const [port, controlPort] = [await findFreePort(), await findFreePort()]
  const setupToken = randomBytes(24).toString('base64url')
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_ENV: 'production',
    RIDEAU_GATEWAY_PORT: String(port),
    RIDEAU_CONTROL_PORT: String(controlPort),
    RIDEAU_METRICS_PORT: '0',
    RIDEAU_DATA_DIR: path.join(folder, 'data'),
    RIDEAU_SETUP_TOKEN: setupToken,
    RIDEAU_ALLOW_PRIVATE_UPSTREAMS: 'true',
    RIDEAU_WORKERS: String(workers),
  }
  const command = [node, path.join(root, 'bin/rideau.mjs'), 'start']
  const server = startProcess(core === null ? command : pinned(core, command), logFile, {
    cwd: folder,
    env,
  })
  try {
    const base = `http://127.0.0.1:${controlPort}`
    const isReady = origin =>
      fetch(`${origin}/readyz`).then(
        answer => answer.ok,
        () => false,
      )
    await server.waitUntil(
      async () => (await isReady(base)) && (await isReady(`http://127.0.0.1:${port}`)),
      START_TIMEOUT_MS,
    )
    const { key, keys, check, admin } = await setUp(base, setupToken, mockPort)
    const target = {
      headers: [],
      path: '/openai/v1/chat/completions',
      routes: { anthropic: '/anthropic/v1/messages' },
      modelPrefix: 'custom/',
      apart: ['postgres'],
      // For about 30 s of load the compiler runs beside the requests, and code that is not compiled yet is slow.
      warmUpSeconds: 60,
      minSeconds: 0,
    }
    return {
      ...target,
      name: 'rideau',
      port,
      key,
      keys,
      check,
      admin,
      logFile,
      pid: server.pid,
      stop: server.stop,
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** A secret key of the production environment (metadata capture) and a credential whose upstream is the mock. */
async function setUp(base, setupToken, mockPort) {
  const made = await callControl(base, 'POST', '/v1/setup', undefined, {
    setup_token: setupToken,
    email: 'bench@example.com',
    password: randomBytes(24).toString('base64url'),
    organization: { name: 'Bench' },
  })
  const managementKey = made.management_key.key
  const environment = `/v1/environments/${made.environments.find(environment => environment.name === 'production').id}`
  await callControl(base, 'POST', `${environment}/provider-credentials`, managementKey, {
    provider: 'custom',
    name: 'mock',
    api_key: PROXY_KEY,
    base_url: `http://127.0.0.1:${mockPort}/v1`,
  })
  const makeKey = name =>
    callControl(base, 'POST', `${environment}/keys`, managementKey, { kind: 'secret', name })
  const { id: keyId, key } = await makeKey('bench')
  const all = [key]
  const keys = async count => {
    while (all.length < count) all.push((await makeKey(`bench ${all.length}`)).key)
    return all.slice(0, count)
  }
  const check = async () => {
    const logs = await callControl(base, 'GET', `${environment}/logs?limit=1`, managementKey)
    if (logs.data.length === 0) throw new Error('rideau answered, but its log is empty')
  }
  /** Calls the control plane as the organization's owner; routes of the environment begin with `environment`. */
  const call = (method, route, body) => callControl(base, method, route, managementKey, body)
  return { key, keys, check, admin: { call, environment, keyId, made } }
}

export async function callControl(base, method, route, key, body) {
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
  const answer = await fetch(base + route, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${route} gave ${answer.status}: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}
