import { rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildProgram, programFolder, runProgram } from '../../testing/harness/child-program.ts'

const SOURCE = `
import { Exceptions } from './packages/server/app/process/exceptions.ts'
import { handleProcessExceptions } from './packages/server/app/process/process-exceptions.ts'

const exceptions = new Exceptions({
  error: ({ alarm, where, err }) => console.log([alarm, where, err.message ?? err].join(' ')),
})
const started = handleProcessExceptions(exceptions)
if (process.argv[2] === 'started') started()
setTimeout(() => {
  throw new Error('in a timer')
})
process.stdin.once('data', () => {
  Promise.reject({ not: 'an error' })
  setImmediate(() => {
    console.log(JSON.stringify(exceptions.counts))
    process.exit(0)
  })
})
`

const folder = programFolder('process-exceptions')
const file = path.join(folder, 'program.mjs')

beforeAll(() => buildProgram(SOURCE, file))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('logs an uncaught exception as an alarm, and a started process continues', async () => {
  const { child, nextLine, ended } = runProgram(file, ['started'])
  expect(await nextLine()).toBe('exception uncaughtException in a timer')
  child.stdin?.write('go on')
  expect(await nextLine()).toBe("exception unhandledRejection { not: 'an error' }")
  expect(await nextLine()).toBe('{"request":0,"background":0,"process":2}')
  expect(await ended).toBe(0)
})

test('logs an exception during the start as an alarm and ends the process', async () => {
  const { nextLine, ended } = runProgram(file, [])
  expect(await nextLine()).toBe('exception uncaughtException in a timer')
  expect(await ended).toBe(1)
})
