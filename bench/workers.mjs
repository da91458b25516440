// npm run bench:workers: requests per second with several gateway workers and with one process, in rounds that alternate between
// both, and how the load is spread over the workers. The load, the mock upstream and the database take part of the same cores, so
// the ratio of requests per second says something on a machine with more cores than these need; the CPU time of a request
// (supervisor and workers) says what the workers cost anywhere.
//   npm run bench:workers -- [--workers N] [--connections N] [--rounds N] [--seconds N]
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { root } from '../tools/build.mjs'
import { makeBody, SCENARIOS } from './bodies.mjs'
import { startMock, startRideau } from './contenders.mjs'
import { compile, countConnections, listWorkers, readCpuUs } from './processes.mjs'

const run = promisify(execFile)
const WARM_UP_SECONDS = 15
/** Work after the answers counts: the second reading waits for it. */
const SETTLE_MS = 400

const { values: options } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '2' },
  },
})

async function measure(load, program, folder, seconds) {
  const bodyFile = path.join(folder, 'body.json')
  fs.writeFileSync(bodyFile, makeBody(SCENARIOS[0], program.modelPrefix))
  const where = ['-p', program.port, '-u', program.path, '-H', `Authorization: Bearer ${program.key}`]
  const how = ['-b', bodyFile, '-c', options.connections, '-d', seconds]
  const workers = listWorkers(program.pid)
  const read = () => ({
    all: readCpuUs(program.pid, program.apart).own,
    each: workers.map(pid => readCpuUs(pid).own),
  })
  const before = read()
  const running = run(load, [...where, ...how].map(String))
  await new Promise(resolve => setTimeout(resolve, seconds * 750))
  const connections = workers.map(pid => countConnections(pid, program.port))
  const result = JSON.parse((await running).stdout)
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  const after = read()
  if (result.err > 0 || result.non200 > 0 || result.done === 0)
    throw new Error(`wrong answers: ${JSON.stringify(result)}`)
  const spent = workers.map((_, index) => after.each[index] - before.each[index])
  return {
    requestsPerSecond: result.rps,
    cpuUs: (after.all - before.all) / result.done,
    connections,
    busiest: workers.length === 0 ? 1 : Math.max(...spent) / spent.reduce((sum, share) => sum + share, 0),
  }
}

const median = values => [...values].sort((a, b) => a - b)[values.length >> 1]

async function main(load, started, folder) {
  const mock = await startMock(compile('mock', path.join(root, 'bench'), cache), folder)
  started.push(mock)
  const start = async workers => {
    const own = path.join(folder, String(workers))
    fs.mkdirSync(own, { mode: 0o755 })
    const program = await startRideau(mock.port, own, { core: null, workers })
    started.push(program)
    await measure(load, program, folder, WARM_UP_SECONDS)
    return program
  }
  const [one, several] = [await start(1), await start(Number(options.workers))]
  const rounds = []
  for (let round = 0; round < Number(options.rounds); round++) {
    const [a, b] = [one, several].map(
      program => () => measure(load, program, folder, Number(options.seconds)),
    )
    const results = { one: await a(), several: await b() }
    rounds.push(results)
    const { connections, busiest } = results.several
    console.log(
      `${results.one.requestsPerSecond.toFixed(0)} and ${results.several.requestsPerSecond.toFixed(0)} requests/s;`,
      `connections of each worker: ${connections.join(', ')}; the busiest did ${(100 * busiest).toFixed(0)} % of the work`,
    )
  }
  const of = (which, field) => median(rounds.map(round => round[which][field]))
  const ratio = median(rounds.map(round => round.several.requestsPerSecond / round.one.requestsPerSecond))
  console.log(
    `\n${os.availableParallelism()} cores, ${options.connections} connections, median of ${rounds.length} rounds:`,
    `${options.workers} workers answer ${ratio.toFixed(2)} times the requests of one process,`,
    `for ${of('several', 'cpuUs').toFixed(0)} µs of CPU each (one process: ${of('one', 'cpuUs').toFixed(0)} µs)`,
  )
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-bench-workers-'))
fs.chmodSync(folder, 0o755)
const cache = path.join(root, '.cache', 'bench')
const started = []
try {
  await main(compile('load', path.join(root, 'bench'), cache), started, folder)
} finally {
  for (const server of started.reverse()) await server.stop()
  fs.rmSync(folder, { recursive: true, force: true })
}
