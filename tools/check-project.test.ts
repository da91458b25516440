import { describe, expect, test } from 'vitest'
import { findFolderBreaches, findLineBreaches, findLockfileBreaches } from './check-project.mjs'

describe('the check of project rules', () => {
  test('refuses a folder with a general name', () => {
    expect(findFolderBreaches(['packages/server/utils/a.ts', 'packages/server/core/a.ts'])).toHaveLength(1)
  })

  test.each([
    ['packages/server/gateway/a.ts', "const vm = await import('node:vm')"],
    ['packages/server/gateway/a.ts', "process.getBuiltinModule('fs')"],
    ['packages/server/gateway/a.ts', 'createRequire(import.meta.url)'],
    ['packages/server/gateway/a.ts', `// ${'FIX' + 'ME'} later`],
    ['packages/server/gateway/a.ts', 'x.res.writeHead(200, headers)'],
    ['packages/server/control/a.ts', "reply.raw.setHeader('X-Name', name)"],
    ['packages/server/http/metrics.ts', "res.appendHeader('X-Name', name)"],
    ['bench/mock.c', `// ${'TO' + 'DO'}: later`],
  ])('%s: refuses %s', (file, line) => {
    expect(findLineBreaches(file, `first\n${line}`)).toEqual([expect.stringContaining(`${file}:2: `)])
  })

  test.each([
    ['packages/server/storage/embedded/native.ts', 'createRequire(import.meta.url)'],
    ['packages/server/gateway/a.test.ts', "await import('./b.ts')"],
    ['tools/build.mjs', "await import('esbuild')"],
    ['packages/server/http/write-head.ts', 'res.writeHead(status, headers)'],
    ['packages/server/gateway/a.ts', 'writeHead(x.res, 200, headers)'],
    ['packages/server/gateway/a.test.ts', 'res.writeHead(200)'],
  ])('%s: lets pass %s', (file, line) => {
    expect(findLineBreaches(file, line)).toEqual([])
  })

  test('refuses a lockfile that names a registry', () => {
    const lock = (resolved: string) =>
      JSON.stringify({
        packages: { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a', resolved } },
      })
    expect(findLockfileBreaches(lock('https://registry.example/a/-/a-1.0.0.tgz'))).toHaveLength(1)
    expect(findLockfileBreaches(lock('packages/a'))).toEqual([])
  })

  test('refuses a package of the lockfile without an integrity hash, and none that is a link into the repository', () => {
    const lock = (entry: object) => JSON.stringify({ packages: { '': {}, 'node_modules/a': entry } })
    expect(findLockfileBreaches(lock({ version: '1.0.0', optional: true }))).toEqual([
      expect.stringContaining('node_modules/a has no integrity hash'),
    ])
    expect(findLockfileBreaches(lock({ version: '1.0.0', integrity: 'sha512-a' }))).toEqual([])
    expect(findLockfileBreaches(lock({ resolved: 'packages/a', link: true }))).toEqual([])
  })
})
