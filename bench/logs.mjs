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
import { timeQueries } from './queries.mjs'
import { connect, DAYS, seedLogs } from './seed.mjs'

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
  await timeQueries(environment, made.organization.id, route =>
    callControl(base, 'GET', route, made.management_key.key),
  )
} finally {
  await control?.server.stop()
  fs.rmSync(folder, { recursive: true, force: true })
}
