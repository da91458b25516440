// npm run bench (after the requests), or alone: npm run bench:ledger -- [--quick] [--json]
// CPU microseconds of this process for one admit and one settle over five meters (two rates, a quota, a budget,
// concurrency), in process and on Redis with so many requests in flight. Best and median of the rounds.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { isMain, root } from '../tools/build.mjs'
import { findFreePort, findProgram, isListening, startProcess } from './processes.mjs'

const ENTRY = `
export { ProcessLedger } from './packages/server/ledger/process-ledger.ts'
export { RedisLedger } from './packages/server/ledger/redis/redis-ledger.ts'
export { openRedis } from './packages/server/redis/open-redis.ts'
export { CALLER, makeMeter, openSeeds } from './packages/server/testing/ledger-model.ts'
`

/** The ledgers as the program has them, from the sources. */
async function loadLedgers(folder) {
  const outfile = path.join(folder, 'ledgers.mjs')
  const stdin = { contents: ENTRY, resolveDir: root, loader: 'ts' }
  // In the project, so that packages are found.
  await build({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' })
  return await import(pathToFileURL(outfile).href)
}

async function startRedis(folder) {
  const program = findProgram('redis-server') ?? findProgram('valkey-server')
  if (program === undefined) return undefined
  const port = await findFreePort()
  const settings = [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ]
  const server = startProcess([program, ...settings.map(String)], path.join(folder, 'redis.log'))
  await server.waitUntil(() => isListening(port), 10_000)
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.stop() }
}

/** For scale: two scripts a request that do nothing. */
async function openBare(client) {
  await client.connect()
  client.defineCommand('nothing', { numberOfKeys: 1, lua: 'return 1' })
  return {
    admit: async () => ({ isAdmitted: (await client.nothing('key')) === 1 }),
    settle: () => client.nothing('key'),
    close: () => client.disconnect(),
  }
}

/** Runs `count` requests, `inFlight` at once. A request that is not admitted is an error: it would be cheaper. */
async function runRequests(ledger, request, count, inFlight) {
  let begun = 0
  const used = { requests: 1, tokens: 900, nanoUsd: 4_000, isSandbox: false }
  const work = async () => {
    while (begun < count) {
      begun++
      const next = request()
      const verdict = ledger.admit(next)
      const answer = verdict instanceof Promise ? await verdict : verdict
      if (!answer.isAdmitted) throw new Error(`a request was refused: ${JSON.stringify(answer)}`)
      const settling = ledger.settle(next.id, used)
      if (settling !== undefined) await settling
    }
  }
  await Promise.all(Array.from({ length: inFlight }, work))
}

async function measure(name, ledger, request, { count, inFlight, rounds }) {
  await runRequests(ledger, request, count, inFlight)
  const turns = []
  for (let round = 0; round < rounds; round++) {
    const [cpu, wall] = [process.cpuUsage(), performance.now()]
    await runRequests(ledger, request, count, inFlight)
    const spent = process.cpuUsage(cpu)
    turns.push({
      cpu: (spent.user + spent.system) / count,
      wall: ((performance.now() - wall) * 1000) / count,
    })
  }
  const sorted = key => turns.map(turn => turn[key]).sort((a, b) => a - b)
  const cpu = sorted('cpu')
  return {
    ledger: name,
    in_flight: inFlight,
    min_cpu_us: cpu[0],
    median_cpu_us: cpu[cpu.length >> 1],
    min_wall_us: sorted('wall')[0],
  }
}

/** A row for each ledger and number of requests in flight; `say` gets a line for people. */
export async function benchLedgers({ quick = false, say }) {
  const folder = path.join(root, '.cache', `bench-ledger-${process.pid}`)
  fs.mkdirSync(folder, { recursive: true })
  const { ProcessLedger, RedisLedger, openRedis, CALLER, makeMeter, openSeeds } = await loadLedgers(folder)
  const much = Number.MAX_SAFE_INTEGER
  const day = { since: 0, end: Date.now() + 86_400_000 }
  const meters = [
    makeMeter('rate', much, { windowMs: 1000 }),
    makeMeter('token_rate', much, { windowMs: 1000 }),
    makeMeter('requests', much, day),
    makeMeter('budget', much, day),
    makeMeter('concurrency', much),
  ]
  let number = 0
  const hold = { tokens: 2_000, nanoUsd: 10_000 }
  const request = () => {
    const id = `01941f29-7c00-7000-8000-${String(number++).padStart(12, '0')}`
    return { id, at: Date.now(), meters, subject: CALLER, hold, leaseMs: 60_000 }
  }
  const common = { owner: 'bench', seeds: openSeeds(), onCrossing: () => {} }
  const rounds = quick ? 3 : 7
  const rows = []
  const inProcess = new ProcessLedger({ ...common, openedAt: Date.now() })
  rows.push(
    await measure('process', inProcess, request, { count: quick ? 50_000 : 200_000, inFlight: 1, rounds }),
  )
  const redis = await startRedis(folder)
  try {
    if (redis === undefined)
      say('neither redis-server nor valkey-server is installed: that ledger is skipped')
    else {
      const now = Date.now
      const alone = {
        countProcesses: async () => 1,
        drain: async () => {},
        log: () => {},
        commandTimeoutMs: 10_000,
      }
      const shared = new RedisLedger({ ...common, ...alone, url: redis.url, now })
      await shared.whenOpen(5000)
      const bare = await openBare(openRedis({ url: redis.url, name: 'bench', commandTimeoutMs: 10_000 }))
      for (const inFlight of [1, 16, 128]) {
        const count = quick ? 4_000 : 20_000
        rows.push(await measure('redis', shared, request, { count, inFlight, rounds }))
        rows.push(await measure('(bare)', bare, request, { count, inFlight, rounds }))
      }
      bare.close()
      await shared.close()
    }
  } finally {
    await redis?.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
  print(rows, say)
  return rows
}

function print(rows, say) {
  say('\nadmit + settle over five meters: CPU µs of the gateway a request')
  say(
    `${'ledger'.padEnd(10)}${'in flight'.padStart(10)}${'min'.padStart(8)}${'median'.padStart(8)}${'wall'.padStart(8)}`,
  )
  for (const row of rows) {
    const times = [row.min_cpu_us, row.median_cpu_us, row.min_wall_us].map(us => us.toFixed(1).padStart(8))
    say(`${row.ledger.padEnd(10)}${String(row.in_flight).padStart(10)}${times.join('')}`)
  }
}

if (isMain(import.meta.filename)) {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  })
  const say = line => (values.json ? console.error(line) : console.log(line))
  const rows = await benchLedgers({ quick: values.quick, say })
  if (values.json)
    console.log(JSON.stringify({ node: process.version, cores: os.availableParallelism(), rows }))
}
