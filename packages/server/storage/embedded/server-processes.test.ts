import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isAlive, isServerOf, listServerProcesses, readPidFile, signal } from './server-processes.ts'

let dir: string
const children: ChildProcess[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rideau-processes-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(dir, { recursive: true })
})

function start(command: string, args: string[], cwd = dir): ChildProcess & { readonly pid: number } {
  const child = spawn(command, args, { cwd, stdio: 'ignore' })
  children.push(child)
  return child as ChildProcess & { readonly pid: number }
}

const writePidFile = (content: string): void => writeFileSync(join(dir, 'postmaster.pid'), content)

describe('the pid file', () => {
  test('gives the process, its socket and its status', () => {
    writePidFile('4711\n/data/pg18\n1763700000\n5432\n/run/rideau\n\n 1 2\nready   \n')
    const expected = { pid: 4711, port: 5432, socketDir: '/run/rideau', status: 'ready' }
    expect(readPidFile(dir)).toEqual(expected)
  })

  test('has no status yet while the server is starting', () => {
    writePidFile('4711\n/data/pg18\n1763700000\n5432\n/run/rideau\n')
    expect(readPidFile(dir)).toMatchObject({ pid: 4711, status: '' })
  })

  test.each(['', '\n', 'postgres\n'])('with the content %j gives pid 0', content => {
    writePidFile(content)
    expect(readPidFile(dir)).toEqual({ pid: 0, port: 0, socketDir: '', status: '' })
  })

  test('is undefined if it does not exist', () => {
    expect(readPidFile(dir)).toBeUndefined()
  })
})

describe('a process', () => {
  test('is alive until it has ended and was reaped', async () => {
    const child = start('/bin/sleep', ['600'])
    expect(isAlive(child.pid)).toBe(true)
    child.kill('SIGKILL')
    await new Promise(resolve => child.once('close', resolve))
    expect(isAlive(child.pid)).toBe(false)
  })

  test.each([0, -1, 4_194_304])('with the id %i is not alive', pid => {
    expect(isAlive(pid)).toBe(false)
  })

  test('is alive if it belongs to another user, although it cannot be signalled', () => {
    expect(isAlive(1)).toBe(true)
  })

  test('can be signalled without an error after it has ended', async () => {
    const child = start('/bin/true', [])
    await new Promise(resolve => child.once('close', resolve))
    expect(() => signal(child.pid, 'SIGTERM')).not.toThrow()
  })

  test('is not a server of the cluster if it is another program in its folder', () => {
    const child = start('/bin/sleep', ['600'])
    expect(isServerOf(child.pid, { dir, name: 'rideau-x' })).toBe(false)
    expect(listServerProcesses({ dir, name: 'rideau-x' })).toEqual([])
  })

  test('is not a server of the cluster if it has ended', () => {
    expect(isServerOf(4_194_304, { dir, name: 'rideau-x' })).toBe(false)
  })
})
