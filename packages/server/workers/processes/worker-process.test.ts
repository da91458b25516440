import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WorkerProcess, type WorkerProcessOptions } from './worker-process.ts'

test('runs with one V8 thread beside its main one', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'rideau-worker-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'worker.mjs')
  writeFileSync(file, "process.exit(process.execArgv.includes('--v8-pool-size=1') ? 7 : 8)")
  const start = {} as WorkerProcessOptions['start']
  const worker = new WorkerProcess({ file, start, port: {} as WorkerProcessOptions['port'] })
  expect(await worker.ended).toMatchObject({ code: 7 })
})
