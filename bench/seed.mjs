// Fills the embedded database of a running program by SQL alone.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { root } from '../tools/build.mjs'

const pg = createRequire(path.join(root, 'packages/server/package.json'))('pg')

export const DAYS = 30
/** Rows of one statement: a failure loses no more, and its end can be shown. */
const CHUNK_ROWS = 250_000
/** Checkpoints every 512 MB of log would write each page of ten million rows many times. */
const SEED_WAL = '16GB'

/** A connection to the embedded database of the program that writes this log, whose work leaves the machine to others. */
export async function connect(logFile) {
  const socket = /socket in ([^\s",]+)/.exec(fs.readFileSync(logFile, 'utf8'))?.[1]
  const client = new pg.Client({ host: socket, user: 'postgres', database: 'postgres' })
  await client.connect()
  try {
    os.setPriority(
      (await client.query('select pg_backend_pid() as pid')).rows[0].pid,
      os.constants.priority.PRIORITY_LOW,
    )
  } catch {
    // Another user's process: it is seeded at the usual priority.
  }
  return client
}

/** Brings the database to the state that it has after a while: no page without statistics, nothing left to vacuum or to write. */
export async function settle(client) {
  await client.query('vacuum (analyze)')
  await client.query('checkpoint')
}

/**
 * Log rows of 30 days and what is summed from them: ten keys, eight models, 5,000 end users, one request in 50 failed, one in a
 * thousand with metadata. Returns the id of their environment, the one
 * that measured requests belong to. The planner then knows them and nothing is left to vacuum.
 */
export async function seedLogs(client, { organization, project, environments }, rows) {
  const environment = environments.find(environment => environment.name === 'production').id
  await client.query(`alter system set max_wal_size = '${SEED_WAL}'`)
  await client.query('select pg_reload_conf()')
  await client.query("set synchronous_commit = off; set work_mem = '256MB'")
  const today = new Date(new Date().toISOString().slice(0, 10))
  for (let day = 0; day < DAYS; day++) {
    const from = new Date(today.getTime() - day * 86_400_000)
    const to = new Date(from.getTime() + 86_400_000)
    const child = `request_logs_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
    await client.query('select make_partition($1, $2, $3, $4)', ['request_logs', child, from, to])
  }
  const insert = (first, last) =>
    client.query(
      `insert into request_logs (id, at, ended_at, stored_at, request_id, org_id, project_id, environment_id, key_id, end_user_id,
        endpoint, surface, model_requested, provider, model, stream, status, error_code, queue_ms, total_ms,
        uncached_input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated,
        cost_nano_usd, sandbox, attempts, metadata, request_body)
      select gen_random_uuid(), at, at + interval '1 s', at + interval '1 s', gen_random_uuid(), $1, $2, $3,
        ('00000000-0000-7000-8000-' || lpad((i % 10)::text, 12, '0'))::uuid, 'user-' || i * 7919 % 5000,
        'chat', 'native', 'openai/model-' || i % 8, 'openai', 'model-' || i % 8, i % 2 = 0,
        case when i % 50 = 0 then 429 else 200 end, case when i % 50 = 0 then 'rate_limit_exceeded' end, 0.2,
        (i * 37) % 9000, 900, 0, 0, 300, 0, false, 1234567, false,
        '[{"provider":"openai","model":"m","credential_id":"c","status":200,"error":null,"ms":700}]',
        case when i % 1000 = 0 then jsonb_build_object('trace', 't' || i) end, repeat('prompt ', 60)
      from generate_series($4::bigint, $5::bigint) as i,
        lateral (select date_trunc('milliseconds', $6::timestamptz - i * $7::float8 * interval '1 second') as at) as t`,
      [organization.id, project.id, environment, first, last, newest, ((DAYS - 1) * 86_400) / rows],
    )
  const newest = new Date()
  for (let first = 1; first <= rows; first += CHUNK_ROWS)
    await insert(first, Math.min(rows, first + CHUNK_ROWS - 1))
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
          sandbox ${users}, requests, input, output, cost, ${[...counters, ...slots].map(() => '1').join(', ')}
        from (
          select org_id, span, bucket, project_id, environment_id, key_id, provider, model, sandbox ${users},
            count(*) as requests, sum(uncached_input_tokens) as input, sum(output_tokens) as output, sum(cost_nano_usd) as cost
          from request_logs, usage_buckets(at, 'UTC')
          group by span, bucket, org_id, project_id, environment_id, key_id, provider, model, sandbox ${users}
        ) as summed, generate_series(0, $1) as age`,
      [months - 1],
    )
  }
  await client.query('alter system reset max_wal_size')
  await client.query('select pg_reload_conf()')
  await settle(client)
  return environment
}

/** Copies of one key in its environment, which no caller can use: their hashes are random. */
export async function seedKeys(client, keyId, count) {
  await client.query(
    `insert into keys select (jsonb_populate_record(k, jsonb_build_object('id', copy.id, 'original_id', copy.id, 'name', 'copy ' || i,
        'hash', '\\x' || replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')))).*
      from keys as k, generate_series(1, $2::integer) as i, lateral (select gen_random_uuid() as id where i > 0) as copy where k.id = $1`,
    [keyId, count],
  )
}
