// npm run bench:growth: what the same request costs in a program that has grown, against a new one: CPU of the gateway's process,
// in rounds that alternate between both. One table row for each way to grow.
//   npm run bench:growth -- [--rows N] [--keys N] [--rounds N] [--seconds N] [--only keys,limits,aliases,rows]
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../tools/build.mjs'
import { SCENARIOS } from './bodies.mjs'
import { startMock, startRideau } from './contenders.mjs'
import { measure } from './measure.mjs'
import { compile } from './processes.mjs'
import { connect, seedKeys, seedLogs } from './seed.mjs'

const TARGET_RATIO = 1.15
/** Code that is compiled at run time needs thousands of requests to reach its full speed. */
const WARM_UP_SECONDS = 60
const LIMITS = 1_000
const ALIASES = 50

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    keys: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '15' },
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
    samples.grown.push((await measure(load, grown, scenario, folder, seconds)).cpuUs)
    samples.fresh.push((await measure(load, fresh, scenario, folder, seconds)).cpuUs)
  }
  return {
    grownUs: median(samples.grown),
    freshUs: median(samples.fresh),
    ratio: median(samples.grown.map((us, round) => us / samples.fresh[round])),
  }
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
    const name = await GROW[way](grown)
    const { grownUs, freshUs, ratio } = await compare(grown, fresh, load, folder)
    const mark = ratio > TARGET_RATIO ? '  over the target' : ''
    const figures = [grownUs.toFixed(1), freshUs.toFixed(1), ratio.toFixed(2)]
    console.log(name.padEnd(44), ...figures.map(figure => figure.padStart(7)), mark)
    await started.pop().stop()
  }
} finally {
  for (const program of started.reverse()) await program.stop()
  fs.rmSync(folder, { recursive: true, force: true })
}
