// npm run bench:growth: what the same request costs in a program that has grown, against a new one: CPU of the gateway's process,
// and apart from it that of its database, in rounds that alternate between both programs. One table row for each way to grow. With many rows
// the log's queries are timed too.
//   npm run bench:growth -- [--rows N] [--keys N] [--rounds N] [--seconds N] [--only keys,limits,aliases,rows]
// Ten million rows need 40 GB of disk and half an hour.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../tools/build.mjs'
import { SCENARIOS } from './bodies.mjs'
import { startMock, startRideau } from './contenders.mjs'
import { measure } from './measure.mjs'
import { compile } from './processes.mjs'
import { timeQueries } from './queries.mjs'
import { connect, seedKeys, seedLogs, settle } from './seed.mjs'

const TARGET_RATIO = 1.15
/** Code that is compiled at run time needs thousands of requests to reach its full speed. */
const WARM_UP_SECONDS = 60
const LIMITS = 1_000
const ALIASES = 50

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    keys: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '25' },
    seconds: { type: 'string', default: '1' },
    only: { type: 'string', default: 'keys,limits,aliases,rows' },
  },
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)

/** Each grows a program that has just been set up. */
const GROW = {
  keys: async ({ admin, logFile }) => {
    await withClient(logFile, client => seedKeys(client, admin.keyId, Number(options.keys)))
    return `${options.keys} keys`
  },
  limits: async ({ admin }) => {
    const { data } = await admin.call('GET', `${admin.environment}/keys?limit=100`)
    const others = data.map(({ id }) => id).filter(id => id !== admin.keyId)
    while (others.length < LIMITS / 10) {
      const body = { kind: 'secret', name: `limited ${others.length}` }
      others.push((await admin.call('POST', `${admin.environment}/keys`, body)).id)
    }
    for (let made = 0; made < LIMITS; made++) {
      const limit = { metric: 'tokens', limit: 1_000_000_000, window_seconds: 60 + made }
      const scope = { scope: 'key', scope_ref: others[made % others.length] }
      await admin.call('POST', `${admin.environment}/limits`, { ...scope, ...limit })
    }
    return `${LIMITS} limits of other keys`
  },
  aliases: async ({ admin }) => {
    for (let made = 0; made < ALIASES; made++) {
      const targets = [{ model: 'custom/mock' }, { model: 'custom/mock-2' }]
      const alias = { alias: `alias-${made}`, strategy: 'priority', targets }
      await admin.call('POST', `${admin.environment}/model-aliases`, alias)
    }
    return `${ALIASES} aliases`
  },
  rows: async ({ admin, logFile }) => {
    await withClient(logFile, client => seedLogs(client, admin.made, Number(options.rows)))
    return `${options.rows} log rows`
  },
}

/** What is measured after the requests, in the grown program. */
const AFTERWARDS = {
  rows: ({ admin }) =>
    timeQueries(admin.environment.split('/').at(-1), admin.made.organization.id, route =>
      admin.call('GET', route),
    ),
}

async function withClient(logFile, use) {
  const client = await connect(logFile)
  try {
    await use(client)
  } finally {
    await client.end()
  }
}

const median = values => [...values].sort((a, b) => a - b)[values.length >> 1]

const warm = new Set()

async function compare(grown, fresh, load, folder) {
  const scenario = SCENARIOS[0]
  for (const program of [fresh, grown]) {
    if (!warm.has(program)) await measure(load, program, scenario, folder, WARM_UP_SECONDS)
    warm.add(program)
  }
  const samples = { grown: [], fresh: [] }
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? ['grown', 'fresh'] : ['fresh', 'grown']
    for (const name of order) {
      const program = name === 'grown' ? grown : fresh
      samples[name].push(await measure(load, program, scenario, folder, seconds))
    }
  }
  const compareBy = figure => ({
    grownUs: median(samples.grown.map(figure)),
    freshUs: median(samples.fresh.map(figure)),
    ratio: median(samples.grown.map((sample, round) => figure(sample) / figure(samples.fresh[round]))),
  })
  return {
    gateway: compareBy(sample => sample.cpuUs),
    database: compareBy(sample => sample.databaseCpuUs),
  }
}

function printLine(name, { grownUs, freshUs, ratio }) {
  const mark = ratio > TARGET_RATIO ? '  over the target' : ''
  const figures = [grownUs.toFixed(1), freshUs.toFixed(1), ratio.toFixed(2)]
  console.log(name.padEnd(44), ...figures.map(figure => figure.padStart(7)), mark)
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-bench-growth-'))
fs.chmodSync(folder, 0o755)
const cache = path.join(root, '.cache', 'bench')
const [mockProgram, load] = ['mock', 'load'].map(name => compile(name, path.join(root, 'bench'), cache))
const started = []
try {
  const mock = await startMock(mockProgram, folder)
  started.push(mock)
  const start = async name => {
    const own = path.join(folder, name)
    fs.mkdirSync(own, { mode: 0o755 })
    const program = await startRideau(mock.port, own)
    started.push(program)
    return program
  }
  const fresh = await start('fresh')
  console.log(
    'plain 1 KB, median CPU us of a request'.padEnd(44),
    'grown'.padStart(7),
    'new'.padStart(7),
    '  ratio',
  )
  for (const way of options.only.split(',')) {
    const grown = await start(way)
    const began = performance.now()
    const name = await GROW[way](grown)
    for (const program of [fresh, grown]) await withClient(program.logFile, settle)
    console.log(`${name}, made in ${Math.round((performance.now() - began) / 1_000)} s`)
    const { gateway, database } = await compare(grown, fresh, load, folder)
    printLine('  gateway', gateway)
    printLine('  its database', database)
    await AFTERWARDS[way]?.(grown)
    await started.pop().stop()
  }
} finally {
  for (const program of started.reverse()) await program.stop()
  fs.rmSync(folder, { recursive: true, force: true })
}
