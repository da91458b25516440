// npm run bench: CPU microseconds per request of Rideau, of nginx as a plain proxy, and of other gateways. CPU time of the
// contender's processes divided by requests, not throughput: machines are noisy. Rounds are interleaved over
// the contenders; compare figures of one run only.
//   npm run bench -- [--quick] [--json] [--rounds N] [--seconds N] [--contenders mock,nginx,relay,rideau,rideau22,rideau24,portkey,litellm]
// `rideau22` and `rideau24` are Rideau on those versions of Node, which npm's packages bring.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../tools/build.mjs'
import { installNode } from '../tools/test-nodes.mjs'
import { SCENARIOS } from './bodies.mjs'
import { startMock, startNginx, startRawRelay, startRideau } from './contenders.mjs'
import { measureFirstByte } from './latency.mjs'
import { benchLedgers } from './ledger.mjs'
import { CONNECTIONS, measure } from './measure.mjs'
import { startLiteLlm, startPortkey } from './other-gateways.mjs'
import { measurePaced } from './paced.mjs'
import { compile } from './processes.mjs'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    streams: { type: 'string' },
    parts: { type: 'string', default: 'cpu,latency,paced,ledgers' },
    contenders: { type: 'string', default: 'nginx,relay,rideau,portkey,litellm' },
  },
})
const rounds = Number(options.rounds ?? (options.quick ? 2 : 4))
const seconds = Number(options.seconds ?? (options.quick ? 0.4 : 0.8))
const streamCounts = (options.streams ?? (options.quick ? '200' : '1000,5000')).split(',').map(Number)
const parts = options.parts.split(',')
const log = line => (options.json ? console.error(line) : console.log(line))

/** Rideau on another version of Node than this one. */
async function startRideauOn(major, mockPort, folder) {
  const node = path.join(installNode(major, path.join(root, '.cache', 'nodes')), 'node')
  return {
    ...(await startRideau(mockPort, path.join(folder, `node-${major}`), { node })),
    name: `rideau ${major}`,
  }
}

/** Starts the mock and the wanted contenders. One that is not here, or that does not start, is skipped with the reason. */
async function startContenders(wanted, mockProgram, folder, cache) {
  const mock = await startMock(mockProgram, folder)
  const started = [mock]
  const starts = {
    nginx: () => startNginx(mock.port, folder),
    relay: () => startRawRelay(mock.port, folder),
    rideau: () => startRideau(mock.port, folder),
    rideau22: () => startRideauOn(22, mock.port, folder),
    rideau24: () => startRideauOn(24, mock.port, folder),
    portkey: () => startPortkey(mock.port, folder, cache),
    litellm: () => startLiteLlm(mock.port, folder),
  }
  try {
    for (const name of wanted.filter(name => name in starts)) {
      const contender = await starts[name]().catch(error => {
        if (name.startsWith('rideau')) throw error
        log(`${name} is skipped: ${error.message}`)
        return null
      })
      if (contender === undefined) log(`${name} is not installed: skipped`)
      else if (contender !== null) started.push(contender)
    }
    return started
  } catch (error) {
    for (const server of started) await server.stop()
    throw error
  }
}

const WAKE_SECONDS = 0.5
const LATENCY_SCENARIOS = ['plain 1 KB', 'stream of 50']
const PACED = ['nginx', 'rideau', 'rideau 22', 'rideau 24']

/** Only a gateway that translates has the route of another format. */
const serves = (contender, { format }) => format === undefined || contender.routes[format] !== undefined

const median = values => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function summarize(scenario, name, samples, nginxSamples, relaySamples) {
  const cpu = samples.map(sample => sample.cpuUs)
  const toRatios = others => others?.map((sample, round) => cpu[round] / sample.cpuUs)
  const [ratios, relayRatios] = [toRatios(nginxSamples), toRatios(relaySamples)]
  return {
    scenario: scenario.name,
    contender: name,
    min_cpu_us: Math.min(...cpu),
    median_cpu_us: median(cpu),
    median_database_cpu_us: median(samples.map(sample => sample.databaseCpuUs)),
    median_requests_per_second: median(samples.map(sample => sample.requestsPerSecond)),
    min_ratio_to_nginx: ratios === undefined ? null : Math.min(...ratios),
    median_ratio_to_nginx: ratios === undefined ? null : median(ratios),
    median_ratio_to_relay: relayRatios === undefined ? null : median(relayRatios),
  }
}

/** Prints rows of texts under their titles; the first two columns are aligned to the left. */
function printTable(titles, rows) {
  const pad = (text, index) => (index < 2 ? text.padEnd(18) : text.padStart(13))
  log('')
  for (const row of [titles, ...rows]) log(row.map(pad).join(''))
}

function printCosts(rows) {
  const ratio = value => (value === null ? '-' : `${value.toFixed(2)}x`)
  printTable(
    [
      'scenario',
      'contender',
      'min µs',
      'median µs',
      'min ratio',
      'ratio',
      'to relay',
      'database µs',
      'requests/s',
    ],
    rows.map(row => [
      row.scenario,
      row.contender,
      row.min_cpu_us.toFixed(1),
      row.median_cpu_us.toFixed(1),
      ratio(row.min_ratio_to_nginx),
      ratio(row.median_ratio_to_nginx),
      ratio(row.median_ratio_to_relay),
      row.median_database_cpu_us.toFixed(1),
      row.median_requests_per_second.toFixed(0),
    ]),
  )
  log(
    'CPU time, user and system, per request; the ratios are to nginx and to the raw relay in the same round.',
  )
}

/**
 * Code that is compiled at run time needs thousands of requests to reach its full speed. Returns what not to measure, as
 * `scenario/contender`: what another gateway does not answer.
 */
async function warmUp(contenders, load, folder) {
  const failed = new Set()
  for (const contender of contenders) {
    log(`warming up ${contender.name}`)
    for (const scenario of SCENARIOS.filter(scenario => serves(contender, scenario))) {
      const share = (contender.warmUpSeconds * (options.quick ? 0.25 : 1)) / SCENARIOS.length
      try {
        await measure(load, contender, scenario, folder, scenario === SCENARIOS[0] ? 2 * share : share)
      } catch (error) {
        if (contender.name.startsWith('rideau')) throw error
        log(`left out: ${error.message}`)
        failed.add(`${scenario.name}/${contender.name}`)
      }
    }
  }
  return failed
}

/** Virtual machines take memory back from a program that is idle, so the first requests after a pause cost several times as much. */
async function wake(load, contender, scenario, folder) {
  // A slow one may answer nothing in that time, which is no wrong answer.
  await measure(load, { ...contender, minSeconds: 0 }, scenario, folder, WAKE_SECONDS).catch(() => {})
}

async function runRounds(contenders, failed, load, folder) {
  const samples = new Map()
  for (let round = 0; round < rounds; round++) {
    log(`round ${round + 1} of ${rounds}`)
    for (const scenario of SCENARIOS) {
      for (const contender of contenders) {
        const label = `${scenario.name}/${contender.name}`
        if (failed.has(label) || !serves(contender, scenario)) continue
        await wake(load, contender, scenario, folder)
        const sample = await measure(load, contender, scenario, folder, seconds)
        samples.set(label, [...(samples.get(label) ?? []), sample])
      }
    }
  }
  return SCENARIOS.flatMap(scenario => {
    const of = (name, { name: scenarioName } = scenario) => samples.get(`${scenarioName}/${name}`)
    const reference = { name: scenario.reference ?? scenario.name }
    const measured = contenders.filter(({ name }) => of(name) !== undefined)
    return measured.map(({ name }) =>
      summarize(scenario, name, of(name), of('nginx', reference), of('raw relay', reference)),
    )
  })
}

/**
 * What a contender adds to the mock's time to the first byte, at half of what it took just before. A shared machine may be several times
 * slower a minute later, so half of an earlier figure could be all that it can take.
 */
async function runLatency(contenders, mock, failed, load, folder) {
  const rows = []
  const duration = options.quick ? 2 : 5
  for (const scenario of SCENARIOS.filter(({ name }) => LATENCY_SCENARIOS.includes(name))) {
    for (const contender of contenders) {
      if (failed.has(`${scenario.name}/${contender.name}`)) continue
      const samples = []
      for (let round = 0; round < rounds; round++) {
        await wake(load, contender, scenario, folder)
        const { requestsPerSecond } = await measure(load, contender, scenario, folder, seconds)
        const rate = requestsPerSecond / 2
        const through = await measureFirstByte(load, contender, scenario, folder, rate, duration)
        const without = await measureFirstByte(load, mock, scenario, folder, rate, duration)
        samples.push({ rate, p50: through.p50Us - without.p50Us, p99: through.p99Us - without.p99Us })
      }
      rows.push({
        scenario: scenario.name,
        contender: contender.name,
        requests_per_second: median(samples.map(({ rate }) => rate)),
        added_p50_us: median(samples.map(({ p50 }) => p50)),
        added_p99_us: median(samples.map(({ p99 }) => p99)),
        min_added_p99_us: Math.min(...samples.map(({ p99 }) => p99)),
      })
    }
  }
  printTable(
    ['first byte', 'contender', 'requests/s', '+ p50 ms', '+ p99 ms', 'lowest p99'],
    rows.map(row => [
      row.scenario,
      row.contender,
      row.requests_per_second.toFixed(0),
      (row.added_p50_us / 1_000).toFixed(2),
      (row.added_p99_us / 1_000).toFixed(2),
      (row.min_added_p99_us / 1_000).toFixed(2),
    ]),
  )
  log(
    'Time to the first byte above that of the mock alone, open loop at half of the requests per second that the contender took just before.',
  )
  return rows
}

/** Streams at the pace of tokens, through those contenders that are fast enough to hold that many. */
async function runPaced(contenders, mock, load, folder) {
  const rows = []
  for (const streams of streamCounts) {
    const alone = await measurePaced(load, mock, folder, streams)
    for (const contender of contenders.filter(({ name }) => PACED.includes(name))) {
      const sample = await measurePaced(load, contender, folder, streams)
      rows.push({
        streams,
        contender: contender.name,
        cpu_us_per_event: sample.cpuUsPerEvent,
        kib_per_stream: sample.kibPerStream,
        added_p50_us: sample.firstByteP50Us - alone.firstByteP50Us,
        added_p99_us: sample.firstByteP99Us - alone.firstByteP99Us,
      })
    }
  }
  printTable(
    ['open streams', 'contender', 'µs an event', 'KiB a stream', '+ p50 ms', '+ p99 ms'],
    rows.map(row => [
      String(row.streams),
      row.contender,
      row.cpu_us_per_event.toFixed(2),
      row.kib_per_stream.toFixed(1),
      (row.added_p50_us / 1_000).toFixed(2),
      (row.added_p99_us / 1_000).toFixed(2),
    ]),
  )
  log(
    'An event every 50 ms on each; memory that is resident above what it was before, and the first byte above the mock alone.',
  )
  return rows
}

async function runParts(contenders, load, folder) {
  const [mock] = contenders
  const measured = contenders.filter(
    contender => contender !== mock || options.contenders.split(',').includes('mock'),
  )
  const result = {}
  const failed = await warmUp(measured, load, folder)
  if (parts.includes('cpu')) {
    result.rows = await runRounds(measured, failed, load, folder)
    printCosts(result.rows)
  }
  if (parts.includes('latency')) result.latency = await runLatency(measured, mock, failed, load, folder)
  if (parts.includes('paced')) result.paced = await runPaced(measured, mock, load, folder)
  for (const contender of measured) await contender.check()
  if (parts.includes('ledgers')) result.ledgers = await benchLedgers({ quick: options.quick, log })
  return result
}

async function main() {
  if (process.platform !== 'linux')
    throw new Error('the benchmark reads /proc and uses epoll: it runs on Linux only')
  const cache = path.join(root, '.cache', 'bench')
  const [mockProgram, load] = ['mock', 'load'].map(name => compile(name, path.join(root, 'bench'), cache))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-bench-'))
  // If the benchmark runs as root, nginx and PostgreSQL run as another user.
  fs.chmodSync(folder, 0o755)
  try {
    const wanted = options.contenders.split(',')
    const contenders = await startContenders(wanted, mockProgram, folder, cache)
    try {
      const result = await runParts(contenders, load, folder)
      if (options.json)
        console.log(
          JSON.stringify({ node: process.version, rounds, seconds, connections: CONNECTIONS, ...result }),
        )
    } finally {
      for (const contender of contenders.reverse()) await contender.stop()
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

main().catch(error => {
  console.error(`bench: ${error.message}`)
  process.exitCode = 1
})
