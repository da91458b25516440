// npm run bench:rows: the CPU time that PostgreSQL and this process need to store a request record, in the embedded database.
// The server's processes are read from /proc, so it runs on Linux only.
//   npm run bench:rows -- [--records N] [--batch N] [--keys N] [--models N] [--end-users N]
//     [--body-chars N] [--before PATH]
// `--before` is the root of another version, which is measured in the same run, in alternating rounds.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build, stop } from 'esbuild'
import { root } from '../tools/build.mjs'

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '20000' },
    batch: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
    'end-users': { type: 'string', default: '0' },
    'body-chars': { type: 'string', default: '0' },
    keys: { type: 'string', default: '1' },
    models: { type: 'string', default: '1' },
    before: { type: 'string' },
  },
})
const [records, batch, rounds, endUsers, bodyChars, keyCount, models] = [
  options.records,
  options.batch,
  options.rounds,
  options['end-users'],
  options['body-chars'],
  options.keys,
  options.models,
].map(Number)
const TICKS_PER_S = 100

/** Loads the storage modules of a version, bundled beside its sources so that their dependencies are found. */
async function load(from) {
  const outfile = path.join(from, `.bench-rows-${process.pid}.mjs`)
  const packed = './packages/server/storage/records/packed-batch.ts'
  const isPacking = fs.existsSync(path.join(from, packed))
  await build({
    stdin: {
      contents: `export { openStorage } from './packages/server/storage/open-storage.ts'
        export { insertRequestRecords } from './packages/server/storage/records/request-logs.ts'
        export * from './packages/server/core/records/record-line.ts'
        ${isPacking ? `export * from '${packed}'` : ''}`,
      resolveDir: from,
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    alias: { '@rideau/llm': path.join(from, 'packages/llm') },
    logLevel: 'silent',
  })
  try {
    return await import(pathToFileURL(outfile).href)
  } finally {
    fs.rmSync(outfile)
  }
}

/** A time-ordered UUID. */
function newId(at) {
  const hex = at.toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

const tenant = { org_id: newId(1), project_id: newId(2), environment_id: newId(3) }
const keys = Array.from({ length: keyCount }, (_, index) => newId(10 + index))

function createRecord(index, at) {
  const model = `model-${index % models}`
  return {
    id: newId(at),
    at: new Date(at).toISOString(),
    request_id: newId(at),
    ...tenant,
    key_id: keys[index % keyCount],
    end_user_id: endUsers === 0 ? null : `user-${(index * 7919) % endUsers}`,
    endpoint: 'chat',
    surface: 'native',
    model_requested: `openai/${model}`,
    user: null,
    provider: 'openai',
    model,
    stream: false,
    status: 200,
    error_code: null,
    provider_message: null,
    finish_reason: 'stop',
    queue_ms: 0.31,
    first_byte_ms: 20.5,
    total_ms: 21.25 + (index % 700),
    uncached_input_tokens: 25 + (index % 90),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 30,
    reasoning_tokens: 0,
    usage_estimated: false,
    cost_nano_usd: 123_456,
    hold_tokens: null,
    hold_nano_usd: null,
    output_cap: null,
    sandbox: false,
    attempts: [{ provider: 'openai', model, credential_id: keys[0], status: 200, error: null, ms: 20.5 }],
    metadata: null,
    request_body: bodyChars === 0 ? null : 'prompt '.repeat(bodyChars / 7),
    response_body: bodyChars === 0 ? null : 'answer '.repeat(bodyChars / 7),
  }
}

/** CPU seconds of a PostgreSQL server: its processes that live, and those that ended. */
function serverCpuS(postmaster) {
  let ticks = 0
  for (const name of fs.readdirSync('/proc').filter(entry => /^\d+$/.test(entry))) {
    let stat
    try {
      stat = fs.readFileSync(`/proc/${name}/stat`, 'latin1')
    } catch {
      continue
    }
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const isPostmaster = Number(name) === postmaster
    if (!isPostmaster && Number(fields[1]) !== postmaster) continue
    ticks += Number(fields[11]) + Number(fields[12])
    if (isPostmaster) ticks += Number(fields[13]) + Number(fields[14])
  }
  return ticks / TICKS_PER_S
}

async function open(name, from) {
  const modules = await load(from)
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-rows-'))
  const storage = await modules.openStorage({ dataDir, log: () => {} })
  const postmaster = Number(
    fs.readFileSync(path.join(dataDir, 'pg18/postmaster.pid'), 'latin1').split('\n')[0],
  )
  await storage.pool.query(
    `insert into organizations (id, name, slug, created_at, updated_at) values ($1, 'a', 'a', now(), now())`,
    [tenant.org_id],
  )
  // As the drain queues them. An earlier version has lines only.
  const toLine = modules.toKeptLine ?? modules.toRecordLine
  const insertLines = async lines => {
    const { rejected } = await modules.insertRequestRecords(storage.pool, lines)
    if (rejected.length > 0) throw new Error(rejected[0].reason)
  }
  const openBatch = modules.openPackedBatches?.({ pool: storage.pool, insertLines })
  const insert = async lines => {
    if (openBatch === undefined) return await insertLines(lines)
    const waiting = openBatch()
    for (const line of lines) waiting.add(line, true)
    await waiting.insert(() => true)
    waiting.release()
  }
  return {
    name,
    results: [],
    async round() {
      const now = Date.now()
      const lines = Array.from({ length: records }, (_, index) =>
        toLine(createRecord(index, now + Math.floor(index / 4))),
      )
      await storage.pool.query('checkpoint')
      const before = [serverCpuS(postmaster), process.cpuUsage(), performance.now()]
      for (let at = 0; at < records; at += batch) {
        await insert(lines.slice(at, at + batch))
      }
      const own = process.cpuUsage(before[1])
      this.results.push({
        server: ((serverCpuS(postmaster) - before[0]) * 1e6) / records,
        own: (own.user + own.system) / records,
        wall: ((performance.now() - before[2]) * 1e3) / records,
      })
    },
    async close() {
      await storage.close()
      fs.rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

const subjects = []
try {
  if (options.before !== undefined) subjects.push(await open('before', path.resolve(options.before)))
  subjects.push(await open('now', root))
  await stop()
  for (let round = 0; round <= rounds; round++) for (const subject of subjects) await subject.round()
  console.log(
    `${records} records a round, ${batch} a batch, ${keyCount} keys, ${models} models, ${endUsers} end users, bodies of ${bodyChars} characters`,
  )
  console.log('µs a record: median (best) of the rounds after the first')
  for (const { name, results } of subjects) {
    const columns = ['server', 'own', 'wall'].map(column => {
      const sorted = results
        .slice(1)
        .map(result => result[column])
        .sort((a, b) => a - b)
      return `${column} ${sorted[sorted.length >> 1].toFixed(1)} (${sorted[0].toFixed(1)})`
    })
    console.log(`${name.padEnd(8)} ${columns.join('   ')}`)
  }
} finally {
  for (const subject of subjects) await subject.close()
}
