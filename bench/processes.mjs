// Starts, pins, stops and measures the processes of the benchmark.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

const STOP_TIMEOUT_MS = 10_000

/** Finds a program on the PATH or where Debian keeps servers; undefined if it is not installed. */
export function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
  return folders.map(folder => path.join(folder, name)).find(file => fs.existsSync(file))
}

/** Pins a command to one core, if the machine has two and taskset. */
export function pinned(core, command) {
  const taskset = findProgram('taskset')
  if (taskset === undefined || os.availableParallelism() < 2) return command
  return [taskset, '-c', String(core), ...command]
}

export async function findFreePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Starts a command with its output in a file; `stop` ends it, by force after 10 s. */
export function startProcess(command, logFile, options = {}) {
  const log = fs.openSync(logFile, 'a')
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', log, log], ...options })
  fs.closeSync(log)
  let failure
  child.once('error', error => (failure = error.message))
  const exited = new Promise(resolve => child.once('close', resolve))
  const isOver = () => failure !== undefined || child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid,
    /** Polls until `probe` returns true; throws with the end of the log if the process ends or the time is up. */
    async waitUntil(probe, timeoutMs) {
      const until = Date.now() + timeoutMs
      while (!(await probe())) {
        if (isOver() || Date.now() > until) throw new Error(describe(command, logFile, failure))
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    },
    async stop() {
      if (isOver()) return
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await exited
      clearTimeout(force)
    },
  }
}

function describe(command, logFile, failure) {
  const tail = fs.readFileSync(logFile, 'utf8').slice(-2_000)
  return `${command.join(' ')} did not start: ${failure ?? ''}\n${tail}`
}

/** True where something accepts connections on the loopback port. */
export function isListening(port) {
  return new Promise(resolve => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true) || socket.destroy())
    socket.once('error', () => resolve(false))
  })
}

/**
 * CPU time, user and system, in microseconds, of a process and its descendants; processes named in `apart` (the
 * embedded database's) are summed separately. From the scheduler's nanosecond counters: ticks are too coarse.
 */
export function readCpuUs(pid, apart = []) {
  const sums = { own: 0, apart: 0 }
  for (const process of listBelow(pid))
    sums[apart.includes(readName(process)) ? 'apart' : 'own'] += readProcessCpuUs(process)
  return sums
}

/** Resident memory in KiB of a process and its descendants without those named in `apart`. */
export function readMemoryKib(pid, apart = []) {
  return listBelow(pid)
    .filter(process => !apart.includes(readName(process)))
    .map(process => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readText(`/proc/${process}/status`))?.[1] ?? 0))
    .reduce((sum, item) => sum + item, 0)
}

function listBelow(pid) {
  const parents = readParents()
  return [...parents.keys()].filter(process => isBelow(process, pid, parents))
}

/** The pids of the gateway workers of a program. */
export function listWorkers(pid) {
  const children = [...readParents()].filter(([, parent]) => parent === pid).map(([child]) => child)
  return children.filter(child => readText(`/proc/${child}/cmdline`).includes('gateway-worker'))
}

/** How many connections of callers to a loopback port this process has. */
export function countConnections(pid, port) {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  const inodes = new Set()
  for (const line of readText('/proc/net/tcp').split('\n')) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    if (state === '01' && local?.endsWith(`:${hexPort}`)) inodes.add(inode)
  }
  const links = fs.readdirSync(`/proc/${pid}/fd`).map(fd => readLink(`/proc/${pid}/fd/${fd}`))
  return links.filter(link => inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1])).length
}

function readLink(file) {
  try {
    return fs.readlinkSync(file)
  } catch {
    return ''
  }
}

function readParents() {
  const parents = new Map()
  for (const name of fs.readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readText(`/proc/${name}/stat`) : ''
    if (stat !== '') parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]))
  }
  return parents
}

function isBelow(pid, ancestor, parents) {
  for (let at = pid; at !== undefined && at > 0; at = parents.get(at)) if (at === ancestor) return true
  return false
}

function readProcessCpuUs(pid) {
  const threads = fs.existsSync(`/proc/${pid}/task`) ? fs.readdirSync(`/proc/${pid}/task`) : []
  const nanoseconds = threads.map(thread =>
    Number(readText(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]),
  )
  return nanoseconds.reduce((sum, amount) => sum + amount, 0) / 1_000
}

const readName = pid => readText(`/proc/${pid}/comm`).trim()

/** Empty if the process ended between listing and reading. */
function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Compiles bench/NAME.c into `folder`; returns the program's path. Throws a clear error without a C compiler. */
export function compile(name, source, folder) {
  const compiler = findProgram('cc')
  if (compiler === undefined) {
    throw new Error('the benchmark needs a C compiler named cc (Debian: apt-get install build-essential)')
  }
  fs.mkdirSync(folder, { recursive: true })
  const program = path.join(folder, name)
  const run = spawnSync(compiler, ['-O2', '-Wall', '-o', program, path.join(source, `${name}.c`)], {
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(`cc failed on ${name}.c:\n${run.stderr}`)
  return program
}
