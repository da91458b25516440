import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildProgram, programFolder, runProgram } from '../../testing/harness/child-program.ts'
import { acquireFolderLock } from './folder-lock.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rideau-lock-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('the lock of a data folder', () => {
  test('lets its callers in one after the other', async () => {
    let inside = 0
    let most = 0
    const enter = async (): Promise<void> => {
      const release = await acquireFolderLock(dir)
      most = Math.max(most, ++inside)
      await new Promise(resolve => setImmediate(resolve))
      inside--
      await release()
    }
    await Promise.all([enter(), enter(), enter(), enter()])
    expect(most).toBe(1)
  })

  test('is separate for each folder, and stays with a folder that is renamed', async () => {
    const other = mkdtempSync(join(tmpdir(), 'rideau-lock-'))
    const releases = [await acquireFolderLock(dir), await acquireFolderLock(other)]
    const renamed = `${other}-renamed`
    renameSync(other, renamed)
    let isAcquired = false
    const second = acquireFolderLock(renamed).then(release => {
      isAcquired = true
      return release
    })
    await new Promise(resolve => setImmediate(resolve))
    expect(isAcquired).toBe(false)
    for (const release of releases) await release()
    await (await second)()
    rmSync(renamed, { recursive: true })
  })

  test('is released when its process is killed', async () => {
    const programs = programFolder('folder-lock')
    const program = join(programs, 'program.mjs')
    await buildProgram(
      `import { acquireFolderLock } from './packages/server/storage/embedded/folder-lock.ts'
      await acquireFolderLock(process.argv[2] as string)
      console.log('acquired')
      setInterval(() => {}, 1000)`,
      program,
    )
    try {
      const { child, nextLine, ended } = runProgram(program, [dir])
      expect(await nextLine()).toBe('acquired')
      const second = acquireFolderLock(dir)
      child.kill('SIGKILL')
      await ended
      await (await second)()
    } finally {
      rmSync(programs, { recursive: true })
    }
  })

  test('rejects for a folder that does not exist', async () => {
    await expect(acquireFolderLock(join(dir, 'missing'))).rejects.toThrow('ENOENT')
  })
})
