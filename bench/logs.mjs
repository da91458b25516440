// npm run bench:logs: how long the control plane takes to answer over a million log rows of 30 days in the embedded
// database, seeded by SQL alone. Milliseconds by HTTP.
//   npm run bench:logs -- [--rows N]
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildServer, root } from '../tools/build.mjs'
import { callControl } from './contenders.mjs'
import { findFreePort, startProcess } from './processes.mjs'
import { connect, DAYS, seedLogs } from './seed.mjs'

const TARGET_MS = 300
const ROUNDS = 7

const { values: options } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } })
const rows = Number(options.rows)

async function startControl(folder) {
  await buildServer()
  const port = await findFreePort()
  const setupToken = randomBytes(24).toString('base64url')
  const logFile = path.join(folder, 'rideau.log')
  const server = startProcess([process.execPath, path.join(root, 'bin/rideau.mjs'), 'control'], logFile, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      RIDEAU_CONTROL_PORT: String(port),
      RIDEAU_METRICS_PORT: '0',
      RIDEAU_DATA_DIR: path.join(folder, 'data'),
      RIDEAU_SETUP_TOKEN: setupToken,
    },
  })
  const base = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${base}/readyz`).then(
      answer => answer.ok,
      () => false,
    )
  await server.waitUntil(isReady, 60_000)
  const made = await callControl(base, 'POST', '/v1/setup', undefined, {
    setup_token: setupToken,
    email: 'bench@example.com',
    password: randomBytes(24).toString('base64url'),
    organization: { name: 'Bench' },
  })
  return { server, base, made, logFile }
}

function listQueries(environment, org) {
  const key = `key_id=00000000-0000-7000-8000-${'3'.padStart(12, '0')}`
  const from = `from=${new Date(Date.now() - DAYS * 86_400_000).toISOString()}`
  const ago = new Date(Date.now() - 90 * 86_400_000).toISOString()
  const logs = `/v1/environments/${environment}/logs?limit=20`
  return {
    'newest page': logs,
    'key, status, model, 30 days': `${logs}&${key}&status=200&model=openai/model-3&${from}`,
    'key, status, model, none fits': `${logs}&${key}&status=200&model=openai/model-4&${from}`,
    'key, failed, model': `${logs}&${key}&status=429&model=model-2&${from}`,
    'unknown model': `${logs}&model=nothing&${from}`,
    'a status without requests': `${logs}&status=503&${from}`,
    'end user': `${logs}&end_user_id=user-42&${from}`,
    'error code': `${logs}&error_code=rate_limit_exceeded&${from}`,
    'dear and slow': `${logs}&min_cost_usd=0.001&min_latency_ms=8990&${from}`,
    'an endpoint without requests': `${logs}&endpoint=audio&${from}`,
    'the sandbox, without requests': `${logs}&sandbox=true&${from}`,
    'streams of a key': `${logs}&stream=true&${key}&${from}`,
    'not its status, nor its model': `${logs}&not.status=200&not.model=model-2&${from}`,
    'the beginning of an id': `${logs}&request_id=12345678&${from}`,
    'several statuses': `${logs}&status=429&status=5xx&${from}`,
    'histogram of an endpoint': `/v1/environments/${environment}/logs/histogram?endpoint=audio&${from}`,
    metadata: `${logs}&metadata.trace=t5000&${from}`,
    'usage, 90 days by day': `/v1/orgs/${org}/usage?from=${ago}&limit=100`,
    'usage, 90 days by day and model': `/v1/orgs/${org}/usage?from=${ago}&group_by=model&limit=100`,
    'usage, 30 days by hour and key': `/v1/orgs/${org}/usage?granularity=hour&group_by=key&limit=100`,
    'usage, 30 days by end user': `/v1/orgs/${org}/usage?group_by=end_user&limit=100`,
  }
}

async function measure(base, key, route) {
  const times = []
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    await callControl(base, 'GET', route, key)
    times.push(performance.now() - start)
  }
  const [first, ...others] = times
  return { first, median: others.sort((a, b) => a - b)[Math.floor(others.length / 2)] }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-bench-logs-'))
fs.chmodSync(folder, 0o755)
let control
try {
  control = await startControl(folder)
  const { base, made, logFile } = control
  const client = await connect(logFile)
  const start = performance.now()
  const environment = await seedLogs(client, made, rows)
  console.log(`${rows} rows over ${DAYS} days in ${Math.round((performance.now() - start) / 1000)} s`)
  await client.end()
  for (const [name, route] of Object.entries(listQueries(environment, made.organization.id))) {
    const { first, median } = await measure(base, made.management_key.key, route)
    const mark = median > TARGET_MS ? '  over the target' : ''
    console.log(
      `${name.padEnd(34)} first ${first.toFixed(0).padStart(5)} ms, then ${median.toFixed(1).padStart(7)} ms${mark}`,
    )
  }
} finally {
  await control?.server.stop()
  fs.rmSync(folder, { recursive: true, force: true })
}
