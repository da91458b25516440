// Runs first in start, test, check and bench: makes node_modules match package-lock.json, so that a clean clone
// needs no other step. Plain Node without dependencies, and silent if there is nothing to do. Not a "prestart" script:
// npm runs none of those under the ignore-scripts of .npmrc.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { explainOldNode, isSupportedNode } from './node-version.mjs'

const LOCK_POLL_MS = 100

/**
 * What node_modules must have been made from. File times mean nothing after a clone, so contents are compared.
 * A production start needs no development dependencies; every other command needs them.
 */
export function wantedStamp(root, env) {
  const production = env.NODE_ENV === 'production' && env.npm_lifecycle_event === 'start'
  return {
    lockfile: createHash('sha256')
      .update(fs.readFileSync(path.join(root, 'package-lock.json')))
      .digest('hex'),
    abi: process.versions.modules,
    platform: `${process.platform}-${process.arch}`,
    mode: production ? 'production' : 'all',
  }
}

/** A full install also serves a production start, but not the reverse. */
export function isFresh(root, wanted) {
  const found = readJson(stampPath(root))
  if (found === undefined) return false
  const same = ['lockfile', 'abi', 'platform'].every(field => found[field] === wanted[field])
  return same && (found.mode === 'all' || found.mode === wanted.mode)
}

/**
 * Whether `npm ci` has installed all of this and no stamp was written yet. npm lists what it installed in a file of node_modules
 * that it writes last. Packages for other platforms are missing there, and what only those need.
 */
export function isInstalledByNpm(root, wanted) {
  if (fs.existsSync(stampPath(root))) return false
  const listed = readJson(path.join(root, 'node_modules', '.package-lock.json'))?.packages
  const locked = readJson(path.join(root, 'package-lock.json'))?.packages
  if (listed === undefined || locked === undefined) return false
  return (
    Object.keys(listed).every(name => name in locked) &&
    Object.entries(locked).every(([name, entry]) => {
      if (name === '') return true
      const found = listed[name]
      if (found === undefined) return mayBeMissing(entry, wanted.mode)
      return ['version', 'integrity', 'link'].every(field => found[field] === entry[field])
    })
  )
}

/** One for this platform may not, unless it is one of several for different C libraries. */
function mayBeMissing({ dev, optional, devOptional, os, cpu, libc }, mode) {
  if (mode === 'production' && dev === true) return true
  if (optional !== true && devOptional !== true) return false
  if (libc !== undefined || (os === undefined && cpu === undefined)) return true
  return os?.includes(process.platform) === false || cpu?.includes(process.arch) === false
}

/** npm ci empties node_modules first, so a killed install leaves no stamp and is done again. */
function stampPath(root) {
  return path.join(root, 'node_modules', '.rideau-install.json')
}

function writeStamp(root, wanted) {
  fs.mkdirSync(path.dirname(stampPath(root)), { recursive: true })
  fs.writeFileSync(stampPath(root), `${JSON.stringify(wanted)}\n`)
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** The start time in /proc distinguishes a process from a later one with the same pid; null without /proc. */
function describeProcess(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, started: fields[19], zombie: fields[0] === 'Z' }
  } catch {
    return { pid, started: null, zombie: false }
  }
}

function isRunning({ pid, started }) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  const now = describeProcess(pid)
  return !now.zombie && (started === null || now.started === started)
}

/** The lock is outside node_modules, which npm ci removes. */
function lockPath(root) {
  return path.join(root, '.cache', 'install.lock')
}

/** The other holders of the lock; undefined if this process holds it now. An empty list: try again at once. */
function tryLock(root) {
  const lock = lockPath(root)
  const own = `${lock}.${process.pid}`
  fs.mkdirSync(path.dirname(lock), { recursive: true })
  fs.writeFileSync(own, JSON.stringify([describeProcess(process.pid)]))
  try {
    // A link appears whole or not at all, and never over another.
    fs.linkSync(own, lock)
    return undefined
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    fs.rmSync(own, { force: true })
  }
  const living = (readJson(lock) ?? []).filter(isRunning)
  if (living.length === 0) removeStaleLock(lock)
  return living
}

/** Moves the lock aside before it is checked, and puts it back if a new holder took it between check and move. */
function removeStaleLock(lock) {
  const aside = `${lock}.stale.${process.pid}`
  try {
    fs.renameSync(lock, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  const living = (readJson(aside) ?? []).filter(isRunning)
  if (living.length > 0 && !fs.existsSync(lock)) fs.linkSync(aside, lock)
  fs.rmSync(aside, { force: true })
}

/** Records npm's pid beside that of this process: if only this process is killed, npm still runs and still holds the lock. */
function addLockHolder(root, pid) {
  const next = `${lockPath(root)}.${process.pid}`
  fs.writeFileSync(next, JSON.stringify([describeProcess(process.pid), describeProcess(pid)]))
  fs.renameSync(next, lockPath(root))
}

/** The npm that runs this process, or the one on the PATH if another tool runs it. */
function npmCommand(env) {
  const own = env.npm_execpath
  if (own !== undefined && /^npm-cli\.c?js$/.test(path.basename(own))) return [process.execPath, own]
  return ['npm']
}

function runNpmCi(root, mode, env) {
  const [command, ...first] = npmCommand(env)
  // Explicit in both cases: NODE_ENV=production in the environment would leave development dependencies out.
  const kinds = mode === 'production' ? ['--omit=dev'] : ['--include=dev']
  const args = [...first, 'ci', ...kinds, '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('spawn', () => addLockHolder(root, child.pid))
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`npm ci ended with ${signal ?? `code ${code}`}`))
    })
  })
}

/** Installs if needed. Throws an error with a one-line message if that fails. */
export async function install(root, env, print) {
  const wanted = wantedStamp(root, env)
  if (isFresh(root, wanted)) return 'fresh'
  let announced = false
  for (;;) {
    const holders = tryLock(root)
    if (holders === undefined) break
    if (holders[0] === undefined) continue
    if (!announced) print(`waiting for the install of process ${holders[0].pid}`)
    announced = true
    await new Promise(resolve => setTimeout(resolve, LOCK_POLL_MS))
  }
  try {
    if (isFresh(root, wanted)) return 'fresh'
    if (isInstalledByNpm(root, wanted)) {
      writeStamp(root, wanted)
      return 'fresh'
    }
    print('node_modules is missing or does not match package-lock.json: installing (under a minute)')
    await runNpmCi(root, wanted.mode, env)
    writeStamp(root, wanted)
    return 'installed'
  } finally {
    fs.rmSync(lockPath(root), { force: true })
  }
}

async function main() {
  if (!isSupportedNode(process.versions.node)) {
    throw new Error(explainOldNode(process.versions.node))
  }
  const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
  await install(root, process.env, line => console.error(`rideau: ${line}`))
}

if (process.argv[1] !== undefined && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main().catch(error => {
    console.error(`rideau: ${error.message}`)
    process.exitCode = 1
  })
}
