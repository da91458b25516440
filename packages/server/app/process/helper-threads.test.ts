import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildProgram, programFolder } from '../../testing/harness/child-program.ts'

/** Prints the priorities of the main thread, of V8's threads, of the one for signals, and of libuv's four, which work. */
const PROGRAM = `
  import { pbkdf2 } from 'node:crypto'
  import { readdirSync } from 'node:fs'
  import { getPriority } from 'node:os'
  import { lowerHelperThreads } from './packages/server/app/process/helper-threads.ts'
  const work = () => new Promise(resolve => pbkdf2('a', 'b', 1000, 64, 'sha512', resolve))
  await Promise.all([work(), work(), work(), work()])
  lowerHelperThreads()
  const threads = readdirSync('/proc/self/task').map(Number).sort((a, b) => a - b)
  console.log(JSON.stringify(threads.map(getPriority)))
`

test.runIf(process.platform === 'linux')(
  "V8's threads give way, libuv's and the main one do not",
  async () => {
    const folder = programFolder('helper-threads')
    try {
      const file = join(folder, 'program.mjs')
      await buildProgram(PROGRAM, file)
      const read = (...options: string[]): number[] =>
        JSON.parse(execFileSync(process.execPath, [...options, file], { encoding: 'utf8' }))
      // Whoever runs the tests may give way to others already.
      const own = getPriority()
      const low = Math.max(own, 10)
      expect(read()).toEqual([own, low, low, low, low, low, own, own, own, own, own])
      expect(read('--v8-pool-size=1')).toEqual([own, low, low, own, own, own, own, own])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
