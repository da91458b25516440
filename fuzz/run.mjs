// npm run fuzz -- TARGET --seconds N: bundles fuzz/targets/TARGET.ts, tries inputs on it (worker.mjs), and prints executions and
// coverage. `texts` sends any text in every field of every route of both planes, 100,000 times each. Without a target it lists them. With --input FILE it runs the target once on that file, such as a finding.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { isMain, root } from '../tools/build.mjs'

const folder = path.join(root, 'fuzz')
const MAX_INPUT_BYTES = 4096
/** An input that takes longer is a finding: no target needs a hundredth of it. */
const HANG_SECONDS = 20
const MAX_HEAP_MB = 1024

/** esbuild begins each module of a bundle with its path in a comment. */
const MODULE = /^\/\/ (\S+\.(?:ts|js|mjs))$/

function listTargets() {
  const names = fs.readdirSync(path.join(folder, 'targets'))
  return names.filter(name => name.endsWith('.ts')).map(name => name.slice(0, -3))
}

async function bundle(target, outfile) {
  await build({
    entryPoints: [path.join(folder, 'targets', `${target}.ts`)],
    outfile,
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'warning',
  })
}

/** Returns covered and all statements and branches of the product's modules in a bundle, by module. */
function summarizeCoverage(code, { statementMap, s, branchMap, b }) {
  const moduleByLine = []
  let module = ''
  for (const line of code.split('\n')) {
    module = MODULE.exec(line.trim())?.[1] ?? module
    moduleByLine.push(module)
  }
  const modules = new Map()
  const count = (line, hits) => {
    const name = moduleByLine[line - 1] ?? ''
    if (!name.startsWith('packages/') || name.includes('/testing/')) return
    const counts = modules.get(name) ?? { covered: 0, all: 0 }
    modules.set(name, { covered: counts.covered + (hits > 0 ? 1 : 0), all: counts.all + 1 })
  }
  for (const [id, { start }] of Object.entries(statementMap)) count(start.line, s[id])
  for (const [id, { loc }] of Object.entries(branchMap)) for (const hits of b[id]) count(loc.start.line, hits)
  return modules
}

function printCoverage(bundleFile, counters) {
  const modules = summarizeCoverage(fs.readFileSync(bundleFile, 'utf8'), counters)
  for (const [name, { covered, all }] of modules) {
    console.log(`${String(Math.floor((100 * covered) / all)).padStart(4)} % of ${all}  ${name}`)
  }
}

/** Resolves with the result of the run, and with the input that broke a guarantee, did not return or took all memory. */
function fuzz(bundleFile, seconds, inputFile) {
  const shared = new SharedArrayBuffer(8 + MAX_INPUT_BYTES)
  const progress = new Int32Array(shared, 0, 2)
  const corpusFolder = path.join(path.dirname(bundleFile), 'corpus')
  const worker = new Worker(path.join(folder, 'worker.mjs'), {
    workerData: { bundleFile, corpusFolder, seconds, shared, maxInputBytes: MAX_INPUT_BYTES, inputFile },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  return new Promise(resolve => {
    let result = {}
    let last = { executions: -1, at: performance.now() }
    const fail = error => {
      const finding = Buffer.from(new Uint8Array(shared, 8, progress[1]))
      result = { ...result, finding, error, executions: Atomics.load(progress, 0) }
      void worker.terminate()
    }
    const watch = setInterval(() => {
      const executions = Atomics.load(progress, 0)
      if (executions !== last.executions) last = { executions, at: performance.now() }
      else if (executions > 0 && performance.now() - last.at > HANG_SECONDS * 1000)
        fail(`The input did not return within ${HANG_SECONDS} s.`)
    }, 1000)
    worker.on('message', message => {
      result = { ...result, ...message }
    })
    worker.once('error', error => fail(String(error.stack ?? error)))
    worker.once('exit', () => {
      clearInterval(watch)
      resolve(result)
    })
  })
}

function report(target, bundleFile, { executions = 0, kept = 0, seconds = 0, counters, finding, error }) {
  if (counters !== undefined) printCoverage(bundleFile, counters)
  const rate = Math.round(executions / Math.max(1, seconds))
  console.log(
    `${target}: ${executions} inputs in ${Math.round(seconds)} s (${rate}/s), ${kept} reached something new`,
  )
  if (finding === undefined) return
  const file = path.join(path.dirname(bundleFile), 'finding')
  fs.writeFileSync(file, finding)
  console.log(`${error}\nThe input, ${finding.length} bytes: ${path.relative(root, file)}`)
  process.exitCode = 1
}

/** The property tests that send any text in every field of every route, with as many inputs and the seed that are asked for. */
const TEXTS = [
  'packages/server/gateway/pipeline/any-text-everywhere.test.ts',
  'packages/server/control/any-text.test.ts',
]

function fuzzTexts(runs, seed) {
  const env = {
    ...process.env,
    RIDEAU_TEST_RUNS: runs,
    ...(seed === undefined ? {} : { RIDEAU_TEST_SEED: seed }),
  }
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const run = spawnSync(process.execPath, [vitest, 'run', ...TEXTS, '-t', 'any text'], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  process.exitCode = run.status ?? 1
}

async function main(args) {
  const [target = ''] = args
  const option = name => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
  if (target === 'texts') return fuzzTexts(option('--runs') ?? '100000', option('--seed'))
  if (!listTargets().includes(target)) {
    console.log(
      `npm run fuzz -- TARGET [--seconds N | --input FILE]\nTargets: ${listTargets().join(' ')}\nnpm run fuzz -- texts [--runs N] [--seed N]`,
    )
    process.exitCode = 2
    return
  }
  const bundleFile = path.join(root, '.cache', 'fuzz', target, 'target.cjs')
  await bundle(target, bundleFile)
  if (!fs.existsSync(path.join(folder, 'node_modules', 'jsfuzz'))) {
    console.log('The fuzzer has a package of its own. Install it: npm ci --prefix fuzz')
    process.exitCode = 2
    return
  }
  const seconds = Number(option('--seconds') ?? 600)
  report(target, bundleFile, await fuzz(bundleFile, seconds, option('--input')))
}

if (isMain(import.meta.filename)) await main(process.argv.slice(2))
