import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Leaves a busy server process a quarter of a processor that a gateway would use alone. */
const LOWERED_NICE = 5
/** The bit of CAP_SYS_NICE in /proc/self/status (capabilities(7)). */
const CAP_SYS_NICE = 23n
const EVERY_MS = 1_000

/**
 * True if this process may also raise others. Without that right only the value of a session is changed, which anyone may raise again: a
 * writer of records that stays low for good would fall behind (writer-priority.ts).
 */
export const mayRaise = hasCapability(CAP_SYS_NICE) && isInFirstUserNamespace()

/**
 * Lets gateways have the processors before the server's processes do: callers wait for gateways, while the server mostly writes
 * records of answers that have been sent. Each process of the server leads a session, to which Linux gives a share of its own whatever
 * its nice value is (sched(7), autogroup), so a new one is looked for every second. Returns a function that ends this.
 */
export function lowerPriority(serverPid: number): () => void {
  /** Processes that were looked at: those of the server, once their priority is low, and all others. */
  const seen = new Set<number>()
  const lowerAll = (): void => {
    const running = new Set([serverPid, ...listProcesses()])
    for (const pid of seen) if (!running.has(pid)) seen.delete(pid)
    for (const pid of running) {
      if (seen.has(pid)) continue
      const isOfServer = pid === serverPid || readParent(pid) === serverPid
      if (!isOfServer || lower(pid)) seen.add(pid)
    }
  }
  lowerAll()
  const timer = setInterval(lowerAll, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function listProcesses(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter(pid => pid > 0)
  } catch {
    return []
  }
}

function readParent(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // After the name, which is in brackets and may contain some: the state and the parent (proc_pid_stat(5)).
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1])
  } catch {
    return undefined
  }
}

/** Returns false if it should be tried again. */
function lower(pid: number): boolean {
  try {
    if (mayRaise && getPriority(pid) < LOWERED_NICE) setPriority(pid, LOWERED_NICE)
    if (readSessionNice(pid) < LOWERED_NICE) setSessionNice(pid, LOWERED_NICE)
    return true
  } catch (error) {
    // Linux lets other users than root change ten a second. Any other failure: the process has ended, or there is no such share.
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN'
  }
}

/** Returns the value of all processes of the process's session together (sched(7), autogroup). */
export function readSessionNice(pid: number): number {
  return parseSessionNice(readFileSync(`/proc/${pid}/autogroup`, 'latin1'))
}

/**
 * The text is empty for a process none of whose ancestors has begun a session, but for the first process of the machine. It shares the
 * processors by its own value, beside sessions, as if it were a session with 0.
 */
export function parseSessionNice(autogroup: string): number {
  const [, nice = '0'] = /nice (-?\d+)/.exec(autogroup) ?? []
  return Number(nice)
}

/** Throws if Linux does not allow it now, or knows no such value. */
export function setSessionNice(pid: number, nice: number): void {
  writeFileSync(`/proc/${pid}/autogroup`, String(nice))
}

function hasCapability(bit: bigint): boolean {
  try {
    const [, bits = '0'] = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
    return ((BigInt(`0x${bits}`) >> bit) & 1n) === 1n
  } catch {
    return false
  }
}

/** Within another user namespace a capability does not count for this (user_namespaces(7)). */
function isInFirstUserNamespace(): boolean {
  try {
    return /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'latin1'))
  } catch {
    return false
  }
}
