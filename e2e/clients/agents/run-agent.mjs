// Runs an agent once, as a user would: an empty home folder, a project's folder, the page's lines of configuration, and a prompt.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Longer than an agent retries what it may retry. One that hangs is ended and has no exit code. */
const RUN_MS = 180_000
/** How long processes may take to end after the one that was started. */
const LEFT_MS = 5000

/**
 * Starts `command`. The shell runs the lines of `block` first and then becomes the agent, so that signals reach it.
 * `ended` resolves with `{ code, signal, output, left }`; `left`: the processes that it left behind, which are ended.
 */
export function startAgent({ block, command, key, gate, folder, home, signalsGroup, bin }) {
  const mark = randomUUID()
  const env = {
    PATH: bin === undefined ? process.env.PATH : `${bin}${path.delimiter}${process.env.PATH}`,
    HOME: home,
    TMPDIR: path.join(home, 'tmp'),
    LANG: 'C.UTF-8',
    RIDEAU_URL: gate.url,
    RIDEAU_KEY: key,
    RIDEAU_RUN: mark,
    ...Object.fromEntries(
      ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap(name => [
        [name, gate.url],
        [name.toLowerCase(), gate.url],
      ]),
    ),
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    NO_COLOR: '1',
  }
  fs.mkdirSync(env.TMPDIR, { recursive: true })
  const child = spawn('sh', ['-e', '-c', `${block}\nexec "$@"`, 'sh', ...command], {
    cwd: folder,
    env,
    // A group of its own, so that none of its processes is missed.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = []
  child.stdout.on('data', chunk => output.push(chunk))
  child.stderr.on('data', chunk => output.push(chunk))
  const timer = setTimeout(() => killAll(findProcesses(child.pid, mark)), RUN_MS)
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', async (code, signal) => {
      clearTimeout(timer)
      const left = await awaitNone(child.pid, mark)
      killAll(left)
      resolve({ code, signal, left: left.map(({ name }) => name), output: Buffer.concat(output).toString() })
    })
  })
  return { ended, terminate: () => process.kill(signalsGroup ? -child.pid : child.pid, 'SIGTERM') }
}

async function awaitNone(group, mark) {
  for (const end = Date.now() + LEFT_MS; ; await new Promise(resolve => setTimeout(resolve, 100))) {
    const found = findProcesses(group, mark)
    if (found.length === 0 || Date.now() > end) return found
  }
}

/** The processes of the group, and those that have the mark in their environment: a daemon leaves its group. */
function findProcesses(group, mark) {
  if (!fs.existsSync('/proc/self/environ')) return isAlive(-group) ? [{ pid: -group, name: 'its group' }] : []
  const pids = fs.readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return pids.flatMap(pid => {
    try {
      if (!fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) return []
      const name = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
      return name === '' ? [] : [{ pid: Number(pid), name: name.slice(0, 200) }]
    } catch {
      // It ended meanwhile, or belongs to another user.
      return []
    }
  })
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function killAll(processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

/** A home folder and a project with one file, which `remove` deletes. */
export function makeFolders() {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-agent-'))
  const [home, folder] = ['home', 'project'].map(name => path.join(base, name))
  for (const each of [home, folder]) fs.mkdirSync(each)
  const file = path.join(folder, 'note.txt')
  fs.writeFileSync(file, 'colour = red\n')
  return {
    home,
    folder,
    file,
    remove: () => fs.rmSync(base, { recursive: true, force: true, maxRetries: 5 }),
  }
}
