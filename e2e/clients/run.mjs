// npm run test:clients: real client libraries, as they are installed, against the built gateway and its sandbox.
//   npm run test:clients -- NAME...    these clients alone (the folders beside this file)
//   npm run test:clients -- --agents   the coding agents, each with an empty home folder
//   npm run test:clients -- --write    keeps the results of all that ran in results.json and in docs/clients.md
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { isMain, root } from '../../tools/build.mjs'
import { writeClientTables } from '../../tools/build-clients-doc.mjs'
import { isInstalled, playAgent } from './agents/play.mjs'
import { readConfigurations, writeConfiguration } from './configuration.mjs'
import { startGateway } from './gateway.mjs'
import { installJavaScript, installPython } from './install.mjs'

const HERE = import.meta.dirname
const AGENTS = path.join(HERE, 'agents')
/** Most of a client's time is spent waiting. */
const PARALLEL = 4
const CLIENT_MS = 600_000

/** The clients' folders: `{ name, folder, file, isPython, isAgent }`. */
function listClients(parent) {
  return fs
    .readdirSync(parent, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .flatMap(({ name }) => {
      const folder = path.join(parent, name)
      const file = ['client.mjs', 'client.py', 'agent.mjs'].find(each =>
        fs.existsSync(path.join(folder, each)),
      )
      if (file === undefined) return []
      const isAgent = file === 'agent.mjs'
      const isPython = fs.existsSync(path.join(folder, 'requirements.txt'))
      const kind = { folder, file, isPython, isAgent }
      // A library with providers of its own is a client with each of them.
      const variants = readVariants(folder)
      return variants.length === 0
        ? [{ ...kind, name, block: name, args: [] }]
        : variants.map(variant => ({ ...kind, name: `${name}/${variant}`, block: name, args: [variant] }))
    })
}

function readVariants(folder) {
  const file = path.join(folder, 'variants.json')
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : []
}

/** Why a client cannot run on this machine; undefined: it can. */
async function findObstacle({ folder, file, isPython, isAgent }, hasPython) {
  if (isPython && !hasPython) return 'Python is not installed'
  if (!isAgent) return undefined
  const { default: agent } = await import(path.join(folder, file))
  return isInstalled(agent) ? undefined : `there is no binary for ${process.platform}-${process.arch}`
}

/** An agent is itself the program that is run, so its steps are played here. */
async function playAgentOf({ name, folder, file, code }, gateway) {
  const { default: agent } = await import(path.join(folder, file))
  const { steps, refused } = await playAgent(agent, { name, block: code }, gateway)
  if (refused.length > 0) console.log(`note: ${name} asked in vain for ${refused.join(', ')}`)
  return steps
}

/** Runs a client's script. Resolves with its steps: `{ step, result, note? }`. */
async function playClient(client, gateway) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-home-'))
  const keys = await gateway.createKeys(client.name)
  const command = client.isPython ? path.join(HERE, '.venv', 'bin', 'python') : process.execPath
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    RIDEAU_URL: gateway.url,
    ...keys,
    // What the client needs in another version than the others, and the common steps.
    PYTHONPATH: [path.join(client.folder, '.packages'), HERE].join(path.delimiter),
    // It would look for its prices on the network.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    NO_COLOR: '1',
  }
  try {
    return await runScript(
      command,
      [path.join(client.folder, client.file), ...client.args],
      client.folder,
      env,
    )
  } finally {
    fs.rmSync(home, { recursive: true, force: true })
  }
}

function runScript(command, args, cwd, env) {
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err] = [[], []]
    child.stdout.on('data', chunk => out.push(chunk))
    child.stderr.on('data', chunk => err.push(chunk))
    const timer = setTimeout(() => child.kill('SIGKILL'), CLIENT_MS)
    const end = code => {
      clearTimeout(timer)
      const steps = Buffer.concat(out)
        .toString()
        .split('\n')
        .filter(line => line.startsWith('{"step":'))
        .map(line => JSON.parse(line))
      if (code !== 0) {
        const note = `ended with ${code}: ${Buffer.concat(err).toString().trim().slice(-1500)}`
        steps.push({ step: 'script', result: 'failed', note })
      }
      resolve(steps)
    }
    child.once('error', error => end(error.message))
    child.once('close', end)
  })
}

const KNOWN_FAILURES = path.join(HERE, 'known-failures.json')
const readKnown = () => JSON.parse(fs.readFileSync(KNOWN_FAILURES, 'utf8'))

/** A step of known-failures.json, which names its cause, may fail without failing the run. */
function markKnown(name, steps) {
  const known = readKnown()[name] ?? {}
  return steps.map(({ step, result, note }) => {
    if (!(step in known)) return { step, result, note }
    if (result === 'failed') return { step, result: 'known', note: known[step] }
    if (result === 'passed')
      console.log(`note: ${name}, ${step} passes now: --write removes it from known-failures.json`)
    return { step, result, note }
  })
}

/** The versions that a folder pins: those of a library, or of an agent alone. */
function readVersions({ folder, isAgent }) {
  const manifest = path.join(folder, 'package.json')
  if (fs.existsSync(manifest)) {
    const { dependencies, optionalDependencies } = JSON.parse(fs.readFileSync(manifest, 'utf8'))
    return { ...dependencies, ...optionalDependencies }
  }
  const lines = fs.readFileSync(path.join(folder, 'requirements.txt'), 'utf8').split('\n')
  const pins = lines.filter(line => line.includes('==')).map(line => line.trim().split('=='))
  return Object.fromEntries(isAgent ? pins.filter(([name]) => name.startsWith(path.basename(folder))) : pins)
}

function printClient({ name }, steps, seconds) {
  const count = result => steps.filter(step => step.result === result).length
  const failed = steps.filter(({ result }) => result === 'failed')
  const others = ['waits', 'absent'].filter(each => count(each) > 0).map(each => `, ${count(each)} ${each}`)
  console.log(
    `${failed.length === 0 ? 'ok    ' : 'FAILED'} ${name}: ${count('passed')} passed${others.join('')} (${seconds} s)`,
  )
  for (const { step, note } of failed) console.log(`         ${step}: ${note}`)
  for (const { step, result, note } of steps) {
    if (result === 'known') console.log(`         ${step}: fails, as known: ${note}`)
  }
}

/** The clients that were asked for, each with its block of the page. */
function chooseClients(names, agents) {
  const wanted = listClients(agents ? AGENTS : HERE).filter(
    ({ name }) => names.length === 0 || names.includes(name) || names.includes(name.split('/')[0]),
  )
  const unknown = names.filter(name => !wanted.some(client => client.name === name || client.block === name))
  if (unknown.length > 0) throw new Error(`no such client: ${unknown.join(', ')}`)
  const configurations = readConfigurations(fs.readFileSync(path.join(root, 'docs/clients.md'), 'utf8'))
  return wanted.map(client => {
    const configuration = configurations.get(client.block)
    if (configuration === undefined) throw new Error(`docs/clients.md has no block for ${client.block}`)
    if (!agents) writeConfiguration(client.folder, configuration)
    return { ...client, code: configuration.code }
  })
}

async function main(args) {
  const options = new Set(args.filter(arg => arg.startsWith('--')))
  const agents = options.has('--agents')
  const names = args.filter(arg => !arg.startsWith('--'))
  const wanted = chooseClients(names, agents)
  const [gateway, hasPython] = await Promise.all([
    startGateway(),
    wanted.some(({ isPython }) => isPython) ? installPython(agents) : false,
    wanted.some(({ isPython }) => !isPython) ? installJavaScript(agents) : undefined,
  ])
  const queue = []
  let skipped = 0
  for (const client of wanted) {
    const obstacle = await findObstacle(client, hasPython)
    if (obstacle === undefined) queue.push(client)
    else console.log(`skipped ${client.name}: ${obstacle}`)
    if (obstacle !== undefined) skipped++
  }
  const results = {}
  const worker = async () => {
    for (let client = queue.shift(); client !== undefined; client = queue.shift()) {
      const startedAt = performance.now()
      const played = await (agents ? playAgentOf(client, gateway) : playClient(client, gateway))
      const steps = markKnown(client.name, played)
      printClient(client, steps, ((performance.now() - startedAt) / 1000).toFixed(1))
      results[client.name] = { versions: readVersions(client), steps }
    }
  }
  try {
    await Promise.all(Array.from({ length: PARALLEL }, worker))
  } finally {
    await gateway.stop()
  }
  if (options.has('--write')) writeResults(results, agents ? AGENTS : HERE)
  const steps = Object.values(results).flatMap(client => client.steps)
  const [passed, failed] = ['passed', 'failed'].map(
    each => steps.filter(({ result }) => result === each).length,
  )
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
  const isIncomplete = process.env.RIDEAU_TEST_REQUIRE === 'all' && skipped > 0
  process.exitCode = passed > 0 && failed === 0 && !isIncomplete ? 0 : 1
}

/** Clients that did not run keep their results. */
function writeResults(results, parent) {
  const file = path.join(parent, 'results.json')
  const kept = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
  const all = Object.entries({ ...kept, ...results })
    .filter(([name]) => fs.existsSync(path.join(parent, name.split('/')[0])))
    .map(([name, { versions, steps }]) => [
      name,
      { versions, steps: Object.fromEntries(steps.length ? steps.map(toEntry) : Object.entries(steps)) },
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  fs.writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
  const left = Object.entries(readKnown()).map(([name, steps]) => [
    name,
    Object.fromEntries(
      Object.entries(steps).filter(
        ([step]) => !results[name]?.steps.some(each => each.step === step && each.result === 'passed'),
      ),
    ),
  ])
  const known = Object.fromEntries(left.filter(([, steps]) => Object.keys(steps).length > 0))
  fs.writeFileSync(KNOWN_FAILURES, `${JSON.stringify(known, null, 2)}\n`)
  writeClientTables()
}

const toEntry = ({ step, result }) => [step, result]

if (isMain(import.meta.filename)) await main(process.argv.slice(2))
