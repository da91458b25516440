import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildServer, root as repository } from './build.mjs'

let root: string
const write = (file: string, text: string): void => {
  fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true })
  fs.writeFileSync(path.join(root, file), text)
}
/** What a program prints that imports `module` and evaluates `expression` with it as `m`. */
async function evaluate(module: string, expression: string): Promise<string> {
  const script = `import * as m from ${JSON.stringify(module)}; console.log(await ${expression})`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return stdout.trim()
}
const bundles = () => fs.readdirSync(path.join(root, 'dist')).filter(name => name.endsWith('.mjs'))

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-build-'))
  write('catalog/one.json', '{"price":7}')
  write(
    'packages/llm/formats/price.ts',
    "import one from '../../../catalog/one.json' with { type: 'json' }\nexport const price: number = one.price",
  )
  write(
    'packages/server/main.ts',
    "import { price } from '@rideau/llm/formats/price'\nexport async function run(command: string): Promise<string> { return `${command} ${price}` }",
  )
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

describe('the build', () => {
  test('makes one file that runs without sources: own packages and the catalogue are inside', async () => {
    const bundle = await buildServer(root)
    fs.rmSync(path.join(root, 'packages'), { recursive: true })
    fs.rmSync(path.join(root, 'catalog'), { recursive: true })
    expect(await evaluate(bundle, "m.run('start')")).toBe('start 7')
    expect(bundles()).toEqual([path.basename(bundle)])
  })

  test('keeps the source map in a file of its own, and the bundle in Latin-1', async () => {
    write(
      'packages/server/main.ts',
      'export function run(command: string): never { throw new Error(`${command} · …`) }',
    )
    const bundle = await buildServer(root)
    const text = fs.readFileSync(bundle, 'utf8')
    expect(text).toMatch(/^\/\/# sourceMappingURL=rideau-[0-9a-f]{16}\.mjs\.map$/m)
    // V8 keeps a source with any other character at two bytes a character.
    expect([...text].filter(char => char > '\xff')).toEqual([])
    const script = `import(${JSON.stringify(bundle)}).then(m => m.run('x')).catch(e => console.log(e.stack))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--enable-source-maps', '-e', script])
    expect(stdout).toMatch(/packages\/server\/main\.ts:1:\d+/)
  })

  test('builds nothing anew where no source changed; tests are no source', async () => {
    const bundle = await buildServer(root)
    const { mtimeMs } = fs.statSync(bundle)
    write('packages/server/main.test.ts', 'export const x = 1')
    write('packages/server/testing/harness/app.ts', 'export const x = 1')
    expect(await buildServer(root)).toBe(bundle)
    expect(fs.statSync(bundle).mtimeMs).toBe(mtimeMs)
  })

  test.each(['packages/llm/formats/price.ts', 'catalog/one.json'])(
    'builds anew where %s changed',
    async file => {
      const bundle = await buildServer(root)
      fs.appendFileSync(path.join(root, file), '\n')
      expect(await buildServer(root)).not.toBe(bundle)
    },
  )

  test('takes a Lua script in as text, and builds anew where it changed', async () => {
    write('packages/server/redis/one.lua', 'return 1')
    write(
      'packages/server/main.ts',
      "import one from './redis/one.lua?raw'\nexport const script: string = one",
    )
    const bundle = await buildServer(root)
    expect(await evaluate(bundle, 'm.script')).toBe('return 1')
    write('packages/server/redis/one.lua', 'return 2')
    expect(await evaluate(await buildServer(root), 'm.script')).toBe('return 2')
  })

  test('builds at the same time give the same whole file', async () => {
    const tool = path.join(repository, 'tools/build.mjs')
    const build = () => evaluate(tool, `m.buildServer(${JSON.stringify(root)})`)
    const made = await Promise.all([build(), build(), build()])
    expect(new Set(made).size).toBe(1)
    expect(await evaluate(made[0], "m.run('start')")).toBe('start 7')
    expect(bundles()).toEqual([path.basename(made[0])])
  })

  test.runIf(process.platform === 'linux')(
    'leaves no compiler behind in a process that runs on',
    async () => {
      // Lists its children until there are none; the compiler takes a moment to end.
      const script = `
      import fs from 'node:fs'
      import * as m from ${JSON.stringify(path.join(repository, 'tools/build.mjs'))}
      const list = () => fs.readdirSync('/proc/self/task')
        .flatMap(id => fs.readFileSync('/proc/self/task/' + id + '/children', 'utf8').split(' '))
        .filter(pid => pid.trim() !== '')
      const compiling = m.buildServer(${JSON.stringify(root)})
      let seen = 0
      const watch = setInterval(() => {
        seen = Math.max(seen, list().length)
      })
      await compiling
      for (const end = Date.now() + 60_000; list().length > 0 && Date.now() < end; ) {
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      clearInterval(watch)
      console.log(JSON.stringify({ seen, left: list() }))
    `
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
      expect(JSON.parse(stdout)).toEqual({ seen: 1, left: [] })
    },
  )

  test('a source that does not compile is named and leaves no bundle', async () => {
    write('packages/server/main.ts', 'export const = 1')
    await expect(buildServer(root)).rejects.toThrow('packages/server/main.ts:1:13')
    expect(fs.existsSync(path.join(root, 'dist')) ? bundles() : []).toEqual([])
  })

  test('keeps a few former bundles, not all', async () => {
    for (let price = 0; price < 7; price++) {
      write('catalog/one.json', `{"price":${price}}`)
      await buildServer(root)
    }
    expect(bundles()).toHaveLength(5)
  })
})
