// npm run bench (after the requests), or alone: npm run bench:ledger -- [--quick] [--json]
// CPU microseconds of this process for one reserve and one settle over five meters (two rates, a quota, a budget,
// concurrency), in process, over the socket of a supervisor process and on Redis, for several numbers of requests in flight, and of
// that supervisor or of Redis. Many short rounds, those of one number in flight in turn, since other work on the machine
// makes every figure larger: the best, the lower quartile, the median.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { isMain, root } from '../tools/build.mjs'
import { findFreePort, findProgram, isListening, startProcess } from './processes.mjs'

const ENTRY = `
export { ProcessLedger } from './packages/server/ledger/process/process-ledger.ts'
export { RedisLedger } from './packages/server/ledger/redis/redis-ledger.ts'
export { SocketLedger } from './packages/server/ledger/socket/socket-ledger.ts'
export { serveLedger } from './packages/server/ledger/socket/serve-ledger.ts'
export { SupervisorChannel } from './packages/server/workers/channel/supervisor-channel.ts'
export { WorkerChannel } from './packages/server/workers/channel/worker-channel.ts'
export { openRedis } from './packages/server/redis/open-redis.ts'
export { CALLER, makeMeter, openSeeds } from './packages/server/ledger/testing/make-meter.ts'
`

/** The program's ledgers, bundled from the sources. */
async function loadLedgers(folder) {
  const outfile = path.join(folder, 'ledgers.mjs')
  const stdin = { contents: ENTRY, resolveDir: root, loader: 'ts' }
  // Inside the project, so that packages resolve.
  const loader = { '.lua': 'text' }
  await build({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external', loader })
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

/** The process that counts for workers. Answers each message with its CPU microseconds so far. */
const SUPERVISOR = `
import { openSeeds, ProcessLedger, serveLedger, SupervisorChannel } from './ledgers.mjs'
const common = { owner: 'supervisor', seeds: openSeeds(), onThresholdCrossed: () => {} }
const channel = await SupervisorChannel.open({ folder: process.argv[2], log: () => {} })
const ledger = new ProcessLedger({ ...common, openedAt: Date.now(), hasWorkers: true })
serveLedger(channel, ledger, { now: Date.now })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})
process.send(channel.path)
`

/** A worker's ledger and its supervisor, which is another process as it is in the product. */
async function startSupervisor(folder, { SocketLedger, WorkerChannel }) {
  const file = path.join(folder, 'supervisor.mjs')
  fs.writeFileSync(file, SUPERVISOR)
  const sockets = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-bench-'))
  const child = fork(file, [sockets], { stdio: 'inherit' })
  const [socket] = await once(child, 'message')
  const channel = new WorkerChannel({ path: socket, worker: 'bench', log: () => {} })
  const ledger = new SocketLedger({ owner: 'bench', channel })
  if (!(await channel.whenOpen(5000))) throw new Error(channel.reason)
  return {
    ledger,
    async readCpu() {
      child.send('cpu')
      const [cpu] = await once(child, 'message')
      return cpu
    },
    async stop() {
      channel.close()
      child.kill('SIGKILL')
      await once(child, 'exit')
      fs.rmSync(sockets, { recursive: true, force: true })
    },
  }
}

/** For comparison: two empty scripts per request. */
async function openBare(client) {
  await client.connect()
  client.defineCommand('nothing', { numberOfKeys: 1, lua: 'return 1' })
  return {
    reserve: async () => ({ isAdmitted: (await client.nothing('key')) === 1 }),
    settle: () => client.nothing('key'),
  }
}

/** Runs `count` requests, `inFlight` at once. A request that is refused is an error, because it would be cheaper. */
async function runRequests(ledger, request, count, inFlight) {
  let begun = 0
  const used = { requests: 1, tokens: 900, nanoUsd: 4_000, isSandbox: false }
  const work = async () => {
    while (begun < count) {
      begun++
      const next = request()
      const verdict = ledger.reserve(next)
      const answer = verdict instanceof Promise ? await verdict : verdict
      if (!answer.isAdmitted) throw new Error(`a request was refused: ${JSON.stringify(answer)}`)
      const settling = ledger.settle(next.id, used)
      if (settling !== undefined) await settling
    }
  }
  await Promise.all(Array.from({ length: inFlight }, work))
}

/** CPU microseconds of a Redis server so far. */
async function readRedisCpu(client) {
  const info = await client.info('cpu')
  const seconds = name => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1e6
}

/** Rows of these ledgers, measured in interleaved rounds. */
async function measure(contestants, { count, inFlight, rounds }) {
  const samples = contestants.map(() => [])
  for (const { ledger, request } of contestants) await runRequests(ledger, request, count, inFlight)
  for (let round = 0; round < rounds; round++) {
    for (const [index, { ledger, request, readServerCpu = async () => 0 }] of contestants.entries()) {
      const server = await readServerCpu()
      const [cpu, wall] = [process.cpuUsage(), performance.now()]
      await runRequests(ledger, request, count, inFlight)
      const [spent, ended] = [process.cpuUsage(cpu), performance.now()]
      samples[index].push({
        cpu: (spent.user + spent.system) / count,
        wall: ((ended - wall) * 1000) / count,
        server: ((await readServerCpu()) - server) / count,
      })
    }
  }
  return contestants.map(({ name }, index) => toRow(name, inFlight, samples[index]))
}

function toRow(name, inFlight, samples) {
  const sorted = key => samples.map(sample => sample[key]).sort((a, b) => a - b)
  const cpu = sorted('cpu')
  return {
    ledger: name,
    in_flight: inFlight,
    min_cpu_us: cpu[0],
    p25_cpu_us: cpu[cpu.length >> 2],
    median_cpu_us: cpu[cpu.length >> 1],
    min_server_cpu_us: sorted('server')[0],
    min_wall_us: sorted('wall')[0],
  }
}

/** A row for each ledger and number of requests in flight; `log` gets lines to print. */
export async function benchLedgers({ quick = false, log }) {
  const folder = path.join(root, '.cache', `bench-ledger-${process.pid}`)
  fs.mkdirSync(folder, { recursive: true })
  const ledgers = await loadLedgers(folder)
  const { ProcessLedger, RedisLedger, openRedis, CALLER, makeMeter, openSeeds } = ledgers
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
  const amounts = { tokens: 2_000, nanoUsd: 10_000 }
  const request = () => {
    const id = `01941f29-7c00-7000-8000-${String(number++).padStart(12, '0')}`
    const at = Date.now()
    return { id, arrivedAt: at, at, meters, subject: CALLER, amounts, leaseMs: 60_000 }
  }
  const common = { owner: 'bench', seeds: openSeeds(), onThresholdCrossed: () => {} }
  const rounds = quick ? 7 : 25
  const inProcess = {
    name: 'process',
    ledger: new ProcessLedger({ ...common, openedAt: Date.now() }),
    request,
  }
  const rows = await measure([inProcess], { count: quick ? 20_000 : 50_000, inFlight: 1, rounds })
  const supervisor = await startSupervisor(folder, ledgers)
  const redis = await startRedis(folder)
  try {
    const contestants = [
      { name: 'socket', ledger: supervisor.ledger, request, readServerCpu: supervisor.readCpu },
    ]
    let close = async () => {}
    if (redis === undefined)
      log('neither redis-server nor valkey-server is installed: that ledger is skipped')
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
      const client = openRedis({ url: redis.url, name: 'bench', commandTimeoutMs: 10_000 })
      const readServerCpu = () => readRedisCpu(client)
      contestants.push(
        { name: 'redis', ledger: shared, request, readServerCpu },
        { name: '(bare)', ledger: await openBare(client), request, readServerCpu },
      )
      close = async () => {
        client.disconnect()
        await shared.close()
      }
    }
    for (const inFlight of [1, 16, 128]) {
      rows.push(...(await measure(contestants, { count: quick ? 1_000 : 3_000, inFlight, rounds })))
    }
    await close()
  } finally {
    await supervisor.stop()
    await redis?.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
  print(rows, log)
  return rows
}

const COLUMNS = {
  'in flight': row => String(row.in_flight),
  min: row => row.min_cpu_us.toFixed(1),
  p25: row => row.p25_cpu_us.toFixed(1),
  median: row => row.median_cpu_us.toFixed(1),
  wall: row => row.min_wall_us.toFixed(1),
  'server min': row => (row.ledger === 'process' ? '' : row.min_server_cpu_us.toFixed(1)),
}

function print(rows, log) {
  log(
    '\nreserve + settle over five meters: CPU µs per request, of the gateway and of its supervisor or Redis',
  )
  const line = (name, cells) => log(name.padEnd(10) + cells.map(cell => cell.padStart(11)).join(''))
  line('ledger', Object.keys(COLUMNS))
  for (const row of rows)
    line(
      row.ledger,
      Object.values(COLUMNS).map(toCell => toCell(row)),
    )
}

if (isMain(import.meta.filename)) {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  })
  const log = line => (values.json ? console.error(line) : console.log(line))
  const rows = await benchLedgers({ quick: values.quick, log })
  if (values.json)
    console.log(JSON.stringify({ node: process.version, cores: os.availableParallelism(), rows }))
}
