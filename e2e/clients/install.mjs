// Installs the clients beside their scripts, in folders that git ignores. Nothing is done where the locks have not changed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

const HERE = import.meta.dirname
const PIP_OPTIONS = ['--quiet', '--disable-pip-version-check', '--no-deps', '--no-compile']
const AGENTS = path.join(HERE, 'agents')

/** One install for all libraries, or for all agents: npm takes much of its time for each. */
export async function installJavaScript(agents = false) {
  const folder = agents ? AGENTS : HERE
  const lock = fs.readFileSync(path.join(folder, 'package-lock.json'))
  const modules = path.join(folder, 'node_modules')
  await once(modules, [lock, process.versions.modules], () =>
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], folder),
  )
}

/** Resolves with false where there is no Python. */
export async function installPython(agents = false) {
  const python = await run('python3', ['-c', 'import venv, ensurepip'], HERE).then(
    () => true,
    () => false,
  )
  if (!python) return false
  if (agents)
    return installEnvironment(path.join(AGENTS, '.venv'), path.join(AGENTS, 'aider', 'requirements.txt'))
  const folder = path.join(HERE, '.venv')
  const file = path.join(HERE, 'requirements.txt')
  await installEnvironment(folder, file)
  const pins = fs.readFileSync(file, 'utf8')
  for (const client of listFolders()) {
    const own = fs.readFileSync(path.join(client, 'requirements.txt'), 'utf8')
    if (own.split('\n').every(line => pins.split('\n').includes(line))) continue
    // Another version than the other clients need: beside the script.
    const packages = path.join(client, '.packages')
    await once(packages, [own], () => pip(folder, ['--target', packages, '-r', 'requirements.txt'], client))
  }
  return true
}

/** A new environment with what a list of pins names. */
async function installEnvironment(folder, requirements) {
  await once(folder, [fs.readFileSync(requirements)], async () => {
    await run('python3', ['-m', 'venv', '--clear', folder], HERE)
    await pip(folder, ['-r', requirements], HERE)
  })
  return true
}

const pip = (environment, args, from) =>
  run(path.join(environment, 'bin', 'python'), ['-m', 'pip', 'install', ...PIP_OPTIONS, ...args], from)

function listFolders() {
  return fs
    .readdirSync(HERE)
    .map(name => path.join(HERE, name))
    .filter(folder => fs.existsSync(path.join(folder, 'requirements.txt')))
}

/** Runs `install` unless the folder was made from the same inputs. */
async function once(folder, inputs, install) {
  const hash = createHash('sha256')
  for (const input of inputs) hash.update(input)
  const stamp = path.join(folder, '.rideau-install')
  const wanted = hash.digest('hex')
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return
  console.log(`installing ${path.relative(HERE, folder)}`)
  await install()
  fs.writeFileSync(stamp, wanted)
}

function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.on('data', chunk => {
      errors += chunk
    })
    child.once('error', reject)
    child.once('close', code =>
      code === 0
        ? resolve()
        : reject(new Error(`${command} ${args[0]} ended with ${code}: ${errors.slice(-2000)}`)),
    )
  })
}
