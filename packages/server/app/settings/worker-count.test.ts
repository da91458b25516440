import { availableParallelism } from 'node:os'
import { expect, test } from 'vitest'
import { readCpuQuota, readResources, toWorkerCount } from './worker-count.ts'

const GIB = 1024 ** 3

test.each([
  [8, 32 * GIB, 8],
  [1, 32 * GIB, 1],
  [1.5, 32 * GIB, 1],
  [0.5, 32 * GIB, 1],
  [64, 2 * GIB, 4],
  [2, GIB / 4, 1],
])('%d cores with %d bytes of memory run %i workers', (cores, memoryBytes, workers) => {
  expect(toWorkerCount({ cores, memoryBytes })).toBe(workers)
})

/** Reads from these files only. */
const readFrom =
  (files: Record<string, string>) =>
  (file: string): string => {
    const text = files[file]
    if (text === undefined) throw new Error(`no ${file}`)
    return text
  }

test('a container has the cores of its quota', () => {
  const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '250000 100000\n' }
  expect(readCpuQuota(readFrom(files))).toBe(2.5)
})

test('a service has the smallest quota of its group and of those around it', () => {
  const files = {
    '/proc/self/cgroup': '1:name=systemd:/x\n0::/system.slice/rideau.service\n',
    '/sys/fs/cgroup/system.slice/rideau.service/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/system.slice/cpu.max': '400000 100000\n',
  }
  expect(readCpuQuota(readFrom(files))).toBe(4)
})

test.each([{}, { '/proc/self/cgroup': '', '/sys/fs/cgroup/cpu.max': 'max 100000\n' }])(
  'without a quota all cores count',
  files => {
    expect(readCpuQuota(readFrom(files as Record<string, string>))).toBe(Number.POSITIVE_INFINITY)
  },
)

test('a group whose path leads out of the root does not end the start', () => {
  const files = { '/proc/self/cgroup': '0::/../../other\n', '/sys/fs/cgroup/cpu.max': '100000 100000\n' }
  expect(readCpuQuota(readFrom(files))).toBe(1)
})

test('this machine has at least a part of a core and some memory', () => {
  const { cores, memoryBytes } = readResources()
  expect(cores).toBeGreaterThan(0)
  expect(cores).toBeLessThanOrEqual(availableParallelism())
  expect(memoryBytes).toBeGreaterThan(64 * 1024 * 1024)
})
