import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'

const ROOT = path.join(import.meta.dirname, '..')
/** Less than a test may take, so that a failure shows the output. */
const WAIT_MS = 90_000

/** Debian always has this program, which runs a command in a pseudo-terminal. macOS has another one of that name. */
export const hasTerminal =
  process.platform === 'linux' &&
  /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '')

/** A command in a pseudo-terminal, in which it leads the foreground process group, as at a person's shell. */
export interface Terminal {
  /** Everything that was written to the terminal so far. */
  output(): string
  /** Resolves once the output contains the text. */
  until(text: string): Promise<void>
  /** Types keys; `\x03` is Ctrl-C, which signals every process of the group. */
  type(keys: string): void
  /** Sends a signal to every process of the group. */
  signalGroup(name: NodeJS.Signals): void
  /** The process of the group that runs this file. */
  findPid(file: string): number
  /** Resolves with the command's exit code. */
  readonly ended: Promise<number | null>
  kill(): void
}

export function openTerminal(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  columns = 100,
): Terminal {
  const sized = `stty cols ${columns} rows 40; exec ${command}`
  const child = spawn('script', ['-q', '-e', '-f', '-c', sized, '/dev/null'], {
    cwd: ROOT,
    env: { ...process.env, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  // Keys that are typed after the end go nowhere.
  child.stdin.on('error', () => {})
  const ended = new Promise<number | null>(resolve => child.once('close', code => resolve(code)))
  return {
    ended,
    output: () => output,
    async until(text) {
      await expect
        .poll(
          () => {
            if (child.exitCode !== null && !output.includes(text)) throw new Error(`it ended: ${output}`)
            return output
          },
          { timeout: WAIT_MS, interval: 10 },
        )
        .toContain(text)
    },
    type: keys => void child.stdin.write(keys),
    signalGroup: name => void process.kill(-groupOf(child), name),
    findPid(file) {
      const pid = listGroup(groupOf(child)).find(each => readCommand(each).includes(file))
      if (pid === undefined) throw new Error(`no process of the terminal runs ${file}`)
      return pid
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Returns the programs' files of the children of a process. */
export function listChildren(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap(thread => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter(child => child.trim() !== '')
    .map(child => path.basename(readCommand(Number(child)).split('\0')[0] ?? ''))
}

/** The command was started as the leader of a session, and so of a process group. */
function groupOf({ pid }: ChildProcess): number {
  const [leader] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  if (leader === undefined || leader === '') throw new Error('the command has ended')
  return Number(leader)
}

function listGroup(group: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => readGroup(pid) === group)
}

function readGroup(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
  } catch {
    return undefined
  }
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
