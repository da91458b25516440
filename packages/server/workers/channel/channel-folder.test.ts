import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listenInFolder } from './channel-folder.ts'

let home: string
const made: string[] = []

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rideau-folder-'))
})
afterEach(() => {
  for (const folder of [home, ...made.splice(0)]) rmSync(folder, { recursive: true, force: true })
})

/** Returns the paths that are tried. The file system of `withoutSockets` takes none. */
async function listPaths(folder: string, withoutSockets?: string, code = 'ENOTSUP'): Promise<string[]> {
  const paths: string[] = []
  await listenInFolder(folder, async path => {
    paths.push(path)
    if (dirname(path) !== folder) made.push(dirname(path))
    if (dirname(path) === withoutSockets) throw Object.assign(new Error(code), { code })
  })
  return paths
}

test('the socket lies in the folder', async () => {
  const folder = join(home, 'workers')
  expect(await listPaths(folder)).toEqual([join(folder, 'workers.sock')])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('with a long path it lies in a folder of its own within the temporary one, where a server can listen', async () => {
  const folder = join(home, 'x'.repeat(100), 'workers')
  const server = createServer()
  const path = await listenInFolder(folder, async path => {
    made.push(dirname(path))
    await new Promise<void>(resolve => server.listen(path, resolve))
    return path
  })
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  expect(existsSync(path)).toBe(true)
  expect(await listPaths(folder)).toEqual([path])
  expect(existsSync(path)).toBe(false)
  expect(await listPaths(join(home, 'y'.repeat(100), 'workers'))).not.toEqual([path])
  server.close()
})

test.each(['ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EACCES', 'EINVAL', 'EIO'])(
  'a file system that takes no socket (%s) is left for the temporary folder',
  async code => {
    const folder = join(home, 'workers')
    const [first, second] = await listPaths(folder, folder, code)
    expect(first).toBe(join(folder, 'workers.sock'))
    expect(second).toMatch(/rideau-workers-\d+-[0-9a-f]{16}\/workers\.sock$/)
  },
)

test('another error ends the start', async () => {
  const folder = join(home, 'workers')
  await expect(listPaths(folder, folder, 'EADDRINUSE')).rejects.toThrow('EADDRINUSE')
})

test('no socket is ever in a folder that others may enter', async () => {
  const folder = join(home, 'workers')
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  const [path = ''] = await listPaths(folder)
  expect(path).toMatch(/rideau-workers-\d+-[0-9a-f]{16}\/workers\.sock$/)
  chmodSync(dirname(path), 0o710)
  await expect(listPaths(folder)).rejects.toThrow('only its owner may enter')
})
