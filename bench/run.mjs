// npm run bench: CPU microseconds per request of Rideau, of nginx as a plain proxy, and of other gateways. CPU time of the
// contender's processes divided by requests, not throughput: machines are noisy. Rounds are interleaved over
// the contenders; compare figures of one run only.
//   npm run bench -- [--quick] [--json] [--rounds N] [--seconds N] [--contenders mock,nginx,rideau,portkey,litellm]
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../tools/build.mjs'
import { SCENARIOS } from './bodies.mjs'
import { startMock, startNginx, startRideau } from './contenders.mjs'
import { benchLedgers } from './ledger.mjs'
import { CONNECTIONS, measure } from './measure.mjs'
import { startLiteLlm, startPortkey } from './other-gateways.mjs'
import { compile } from './processes.mjs'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    contenders: { type: 'string', default: 'nginx,rideau,portkey,litellm' },
  },
})
const rounds = Number(options.rounds ?? (options.quick ? 2 : 4))
const seconds = Number(options.seconds ?? (options.quick ? 0.4 : 0.8))
const log = line => (options.json ? console.error(line) : console.log(line))

/** Starts the mock and the wanted contenders. One that is not here, or that does not start, is skipped with the reason. */
async function startContenders(wanted, mockProgram, folder, cache) {
  const mock = await startMock(mockProgram, folder)
  const started = [mock]
  const starts = {
    nginx: () => startNginx(mock.port, folder),
    rideau: () => startRideau(mock.port, folder),
    portkey: () => startPortkey(mock.port, folder, cache),
    litellm: () => startLiteLlm(mock.port, folder),
  }
  try {
    for (const name of wanted.filter(name => name in starts)) {
      const contender = await starts[name]().catch(error => {
        if (name === 'rideau') throw error
        log(`${name} is skipped: ${error.message}`)
        return null
      })
      if (contender === undefined) log(`${name} is not installed: skipped`)
      else if (contender !== null) started.push(contender)
    }
    return started
  } catch (error) {
    for (const each of started) await each.stop()
    throw error
  }
}

const median = values => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function summarize(scenario, name, samples, nginxSamples) {
  const cpu = samples.map(sample => sample.cpuUs)
  const ratios = nginxSamples?.map((sample, round) => cpu[round] / sample.cpuUs)
  return {
    scenario: scenario.name,
    contender: name,
    min_cpu_us: Math.min(...cpu),
    median_cpu_us: median(cpu),
    median_database_cpu_us: median(samples.map(sample => sample.databaseCpuUs)),
    median_requests_per_second: median(samples.map(sample => sample.requestsPerSecond)),
    min_ratio_to_nginx: ratios === undefined ? null : Math.min(...ratios),
    median_ratio_to_nginx: ratios === undefined ? null : median(ratios),
  }
}

function printTable(rows) {
  const cells = (...values) =>
    values.map((value, index) => (index < 2 ? value.padEnd(16) : value.padStart(12))).join('')
  const ratio = value => (value === null ? '-' : `${value.toFixed(2)}x`)
  log(
    `\n${cells('scenario', 'contender', 'min µs', 'median µs', 'min ratio', 'ratio', 'database µs', 'requests/s')}`,
  )
  for (const row of rows) {
    const times = [row.min_cpu_us, row.median_cpu_us].map(value => value.toFixed(1))
    const ratios = [ratio(row.min_ratio_to_nginx), ratio(row.median_ratio_to_nginx)]
    const rest = [row.median_database_cpu_us.toFixed(1), row.median_requests_per_second.toFixed(0)]
    log(cells(row.scenario, row.contender, ...times, ...ratios, ...rest))
  }
  log('\nCPU time, user and system, per request; the ratio is to nginx in the same round.')
}

/**
 * Code that is compiled at run time needs thousands of requests to reach its full speed. Returns what not to measure, as
 * `scenario/contender`: what another gateway does not answer.
 */
async function warmUp(contenders, load, folder) {
  const failed = new Set()
  for (const contender of contenders) {
    log(`warming up ${contender.name}`)
    for (const scenario of SCENARIOS) {
      const share = (contender.warmUpSeconds * (options.quick ? 0.25 : 1)) / SCENARIOS.length
      try {
        await measure(load, contender, scenario, folder, scenario === SCENARIOS[0] ? 2 * share : share)
      } catch (error) {
        if (contender.name === 'rideau') throw error
        log(`left out: ${error.message}`)
        failed.add(`${scenario.name}/${contender.name}`)
      }
    }
  }
  return failed
}

async function runRounds(contenders, failed, load, folder) {
  const samples = new Map()
  for (let round = 0; round < rounds; round++) {
    log(`round ${round + 1} of ${rounds}`)
    for (const scenario of SCENARIOS) {
      for (const contender of contenders) {
        const label = `${scenario.name}/${contender.name}`
        if (failed.has(label)) continue
        const sample = await measure(load, contender, scenario, folder, seconds)
        samples.set(label, [...(samples.get(label) ?? []), sample])
      }
    }
  }
  return SCENARIOS.flatMap(scenario => {
    const of = name => samples.get(`${scenario.name}/${name}`)
    const measured = contenders.filter(({ name }) => of(name) !== undefined)
    return measured.map(({ name }) => summarize(scenario, name, of(name), of('nginx')))
  })
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
      const measured = contenders.filter(({ name }) => name !== 'mock alone' || wanted.includes('mock'))
      const failed = await warmUp(measured, load, folder)
      const rows = await runRounds(measured, failed, load, folder)
      for (const contender of measured) await contender.check()
      printTable(rows)
      const ledgers = await benchLedgers({ quick: options.quick, log })
      if (options.json)
        console.log(
          JSON.stringify({ node: process.version, rounds, seconds, connections: CONNECTIONS, rows, ledgers }),
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
