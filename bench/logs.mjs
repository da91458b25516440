// npm run bench:logs: how long the control plane takes to answer over a million log rows of 30 days in the embedded
// database, seeded by SQL alone. Milliseconds by HTTP.
//   npm run bench:logs -- [--rows N]
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildServer, root } from '../tools/build.mjs'
import { callControl } from './contenders.mjs'
import { findFreePort, startProcess } from './processes.mjs'

const pg = createRequire(path.join(root, 'packages/server/package.json'))('pg')

const TARGET_MS = 300
const ROUNDS = 7
const DAYS = 30

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
  const socket = /socket in ([^\s",]+)/.exec(fs.readFileSync(logFile, 'utf8'))?.[1]
  return { server, base, made, socket }
}

/** Ten keys, eight models, 5,000 end users, one request in 50 failed, one in a thousand with metadata. */
async function seed(client, { organization, project, environments }) {
  const environment = environments[0].id
  const today = new Date(new Date().toISOString().slice(0, 10))
  for (let day = 0; day < DAYS; day++) {
    const from = new Date(today.getTime() - day * 86_400_000)
    const to = new Date(from.getTime() + 86_400_000)
    const child = `request_logs_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
    await client.query('select make_partition($1, $2, $3, $4)', ['request_logs', child, from, to])
  }
  await client.query(
    `insert into request_logs (id, at, ended_at, request_id, org_id, project_id, environment_id, key_id, end_user_id,
        endpoint, surface, model_requested, provider, model, stream, status, error_code, queue_ms, total_ms,
        uncached_input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated,
        cost_nano_usd, sandbox, attempts, metadata, request_body)
      select gen_random_uuid(), at, at + interval '1 s', gen_random_uuid(), $1, $2, $3,
        ('00000000-0000-7000-8000-' || lpad((i % 10)::text, 12, '0'))::uuid, 'user-' || i * 7919 % 5000,
        'chat', 'native', 'openai/model-' || i % 8, 'openai', 'model-' || i % 8, i % 2 = 0,
        case when i % 50 = 0 then 429 else 200 end, case when i % 50 = 0 then 'rate_limit_exceeded' end, 0.2,
        (i * 37) % 9000, 900, 0, 0, 300, 0, false, 1234567, false,
        '[{"provider":"openai","model":"m","credential_id":"c","status":200,"error":null,"ms":700}]',
        case when i % 1000 = 0 then jsonb_build_object('trace', 't' || i) end, repeat('prompt ', 60)
      from generate_series(1, $4::bigint) as i,
        lateral (select date_trunc('milliseconds', now() - i * ($5::float8 / $4) * interval '1 second') as at) as t`,
    [organization.id, project.id, environment, rows, (DAYS - 1) * 86_400],
  )
  const counters = ['errors', 'unpriced', 'cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens']
  const slots = Array.from({ length: 48 }, (_, slot) => `l${String(slot).padStart(2, '0')}`)
  for (const [table, users, months] of [
    ['usage_rollups', '', 3],
    ['end_user_rollups', ', end_user_id', 1],
  ]) {
    await client.query(
      `insert into ${table} (org_id, span, bucket, project_id, environment_id, key_id, provider, model, sandbox ${users},
          requests, uncached_input_tokens, output_tokens, cost_nano_usd, ${[...counters, ...slots].join(', ')})
        select org_id, span, bucket - age * interval '30 days', project_id, environment_id, key_id, provider, model,
          sandbox ${users}, count(*), sum(uncached_input_tokens), sum(output_tokens), sum(cost_nano_usd),
          ${[...counters, ...slots].map(() => '1').join(', ')}
        from request_logs, usage_buckets(at, 'UTC'), generate_series(0, $1) as age
        group by age, span, bucket, org_id, project_id, environment_id, key_id, provider, model, sandbox ${users}`,
      [months - 1],
    )
  }
  await client.query('analyze')
  return environment
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
  const { base, made, socket } = control
  const client = new pg.Client({ host: socket, user: 'postgres', database: 'postgres' })
  await client.connect()
  const start = performance.now()
  const environment = await seed(client, made)
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
