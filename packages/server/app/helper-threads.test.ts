import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildProgram, programFolder, runProgram } from '../testing/harness/child-program.ts'

const PROGRAM = `
  import { readdirSync } from 'node:fs'
  import { getPriority } from 'node:os'
  import { lowerHelperThreads } from './packages/server/app/helper-threads.ts'
  lowerHelperThreads()
  const helpers = readdirSync('/proc/self/task').map(Number).filter(thread => thread !== process.pid)
  console.log(JSON.stringify({ main: getPriority(process.pid), helpers: helpers.map(getPriority) }))
`

test.runIf(process.platform === 'linux')('all threads but the main one give way', async () => {
  const folder = programFolder('helper-threads')
  try {
    const file = join(folder, 'program.mjs')
    await buildProgram(PROGRAM, file)
    const program = runProgram(file, [])
    const { main, helpers } = JSON.parse(await program.nextLine())
    await program.ended
    expect(main).toBe(0)
    expect(helpers.length).toBeGreaterThan(0)
    expect(new Set(helpers)).toEqual(new Set([10]))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
