import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { ProgramHome } from './program.ts'

/** Stops the program's own database server while `task` runs: it keeps its connections and answers nothing. */
export async function whileFrozen<T>(home: ProgramHome, task: () => Promise<T>): Promise<T> {
  const frozen = listServerProcesses(home)
  for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  try {
    return await task()
  } finally {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
  }
}

function listServerProcesses(home: ProgramHome): number[] {
  const [line] = readFileSync(path.join(home.dataDir, 'pg18', 'postmaster.pid'), 'utf8').split('\n')
  const postmaster = Number(line)
  const parentOf = (pid: string): number => {
    try {
      return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
    } catch {
      return 0
    }
  }
  const children = readdirSync('/proc').filter(name => /^\d+$/.test(name) && parentOf(name) === postmaster)
  return [postmaster, ...children.map(Number)]
}
