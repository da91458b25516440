import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { root as repository } from './build.mjs'
import { install, isFresh, isInstalledByNpm, wantedStamp } from './install.mjs'
import { isSupportedNode } from './node-version.mjs'

let root: string
const env = { ...process.env, NODE_ENV: 'test', npm_lifecycle_event: 'test' }
const lockFile = () => path.join(root, '.cache', 'install.lock')
const lockHolders = () =>
  fs.readdirSync(path.join(root, '.cache')).filter(name => name.startsWith('install.lock'))
const silent = () => {}

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-install-'))
  const meta = { name: 'empty', version: '1.0.0' }
  fs.writeFileSync(path.join(root, 'package.json'), JSON.stringify(meta))
  const lock = { ...meta, lockfileVersion: 3, requires: true, packages: { '': meta } }
  fs.writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify(lock))
  // A file of its own in tools/, so that it installs here when run as a program.
  fs.mkdirSync(path.join(root, 'tools'))
  for (const file of ['install.mjs', 'node-version.mjs']) {
    fs.copyFileSync(path.join(repository, 'tools', file), path.join(root, 'tools', file))
  }
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

function runProgram(): Promise<{ code: number | null; errors: string }> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['tools/install.mjs'], {
      cwd: root,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errors = ''
    child.stderr.on('data', chunk => (errors += chunk))
    child.once('close', code => resolve({ code, errors }))
  })
}

describe('the install guard', () => {
  test('installs into a clean clone once and is quiet after', async () => {
    expect(await install(root, env, silent)).toBe('installed')
    const said: string[] = []
    expect(await install(root, env, line => said.push(line))).toBe('fresh')
    expect(said).toEqual([])
    expect(lockHolders()).toEqual([])
  })

  test('installs again when the lockfile changed', async () => {
    await install(root, env, silent)
    fs.appendFileSync(path.join(root, 'package-lock.json'), '\n')
    expect(await install(root, env, silent)).toBe('installed')
  })

  test('a production start is content without development dependencies, tests are not', () => {
    const production = wantedStamp(root, { NODE_ENV: 'production', npm_lifecycle_event: 'start' })
    const tests = wantedStamp(root, { NODE_ENV: 'production', npm_lifecycle_event: 'test' })
    const stampFile = path.join(root, 'node_modules/.rideau-install.json')
    fs.mkdirSync(path.dirname(stampFile))
    fs.writeFileSync(stampFile, JSON.stringify(production))
    expect([isFresh(root, production), isFresh(root, tests)]).toEqual([true, false])
    fs.writeFileSync(stampFile, JSON.stringify(tests))
    expect([isFresh(root, production), isFresh(root, tests)]).toEqual([true, true])
  })

  describe('after npm ci, which leaves no stamp,', () => {
    const entry = { version: '1.0.0', integrity: 'sha512-a' }
    const locked = {
      '': { name: 'empty' },
      'node_modules/used': entry,
      'node_modules/tool': { ...entry, dev: true },
      'node_modules/native': { ...entry, optional: true, os: [process.platform], cpu: [process.arch] },
      'node_modules/foreign': { ...entry, optional: true, os: ['aix'], cpu: ['ppc64'] },
      'node_modules/of-foreign': { ...entry, optional: true },
      'node_modules/musl': { ...entry, optional: true, os: [process.platform], libc: ['musl'] },
      'packages/own': { version: '0.1.0' },
      'node_modules/own': { resolved: 'packages/own', link: true },
    }
    const { '': _, 'node_modules/foreign': __, 'node_modules/of-foreign': ___, ...rest } = locked
    const { 'node_modules/musl': ____, ...installed } = rest
    const all = { NODE_ENV: 'development', npm_lifecycle_event: 'start' }
    const production = { NODE_ENV: 'production', npm_lifecycle_event: 'start' }

    function write(listed: object): void {
      const lockfile = { name: 'empty', version: '1.0.0', lockfileVersion: 3, requires: true }
      fs.writeFileSync(
        path.join(root, 'package-lock.json'),
        JSON.stringify({ ...lockfile, packages: locked }),
      )
      fs.mkdirSync(path.join(root, 'node_modules'), { recursive: true })
      const file = path.join(root, 'node_modules/.package-lock.json')
      fs.writeFileSync(file, JSON.stringify({ ...lockfile, packages: listed }))
    }
    const without = (name: string): object =>
      Object.fromEntries(Object.entries(installed).filter(([each]) => each !== name))
    const isInstalled = (environment: object): boolean =>
      isInstalledByNpm(root, wantedStamp(root, environment))

    test('installs nothing again', async () => {
      write(installed)
      const said: string[] = []
      expect(await install(root, env, line => said.push(line))).toBe('fresh')
      expect(said).toEqual([])
      expect(isFresh(root, wantedStamp(root, env))).toBe(true)
      expect(lockHolders()).toEqual([])
    })

    test('needs no development dependencies for a production start alone', () => {
      write(without('node_modules/tool'))
      expect([isInstalled(all), isInstalled(production)]).toEqual([false, true])
    })

    test.each([
      ['a package is missing', without('node_modules/used')],
      ['the package of this platform is missing', without('node_modules/native')],
      [
        'a package has another version',
        { ...installed, 'node_modules/used': { ...entry, version: '1.0.1' } },
      ],
      ['a package has other contents', { ...installed, 'node_modules/used': { ...entry, integrity: 'b' } }],
      ['another package is installed', { ...installed, 'node_modules/more': entry }],
    ])('installs again if %s', (_title, listed) => {
      write(listed)
      expect([isInstalled(all), isInstalled(production)]).toEqual([false, false])
    })

    test('installs again if a stamp of other contents is there', () => {
      write(installed)
      fs.writeFileSync(path.join(root, 'node_modules/.rideau-install.json'), '{}')
      expect(isInstalled(all)).toBe(false)
    })
  })

  test.each([
    ['a dead process', [{ pid: 2 ** 22 + 1, started: '1' }]],
    ['a living process that has got the dead one’s pid', [{ pid: process.pid, started: '1' }]],
    ['nobody: the file is damaged', 'not json'],
  ])('takes over the lock of %s', async (_, holders) => {
    fs.mkdirSync(path.dirname(lockFile()))
    fs.writeFileSync(lockFile(), typeof holders === 'string' ? holders : JSON.stringify(holders))
    expect(await install(root, env, silent)).toBe('installed')
    expect(lockHolders()).toEqual([])
  })

  test('installs in one of three concurrent calls, and the others wait for it', async () => {
    const runs = await Promise.all([runProgram(), runProgram(), runProgram()])
    expect(runs.map(run => run.code)).toEqual([0, 0, 0])
    expect(runs.filter(run => run.errors.includes('installing'))).toHaveLength(1)
    expect(lockHolders()).toEqual([])
  })

  test('ends with one clear line and no lock where npm fails', async () => {
    // The lockfile lacks what package.json asks: npm ci refuses before it asks any registry.
    const meta = { name: 'empty', version: '1.0.0', dependencies: { pg: '8.23.1' } }
    fs.writeFileSync(path.join(root, 'package.json'), JSON.stringify(meta))
    const { code, errors } = await runProgram()
    expect(code).toBe(1)
    expect(errors).toContain('rideau: npm ci ended with code')
    expect(lockHolders()).toEqual([])
    expect(isFresh(root, wantedStamp(root, env))).toBe(false)
  })

  test.each([
    ['18.20.4', false],
    ['20.18.1', false],
    ['20.19.0', true],
    ['22.0.0', true],
  ])('Node %s: supported is %s', (version, expected) => {
    expect(isSupportedNode(version)).toBe(expected)
  })
})
