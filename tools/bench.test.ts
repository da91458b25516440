import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeBody, SCENARIOS } from '../bench/bodies.mjs'
import { startMock } from '../bench/contenders.mjs'
import { compile, findProgram, readCpuUs } from '../bench/processes.mjs'
import { STREAMS } from '../bench/streams.mjs'
import { root } from './build.mjs'

const isAble = process.platform === 'linux' && findProgram('cc') !== undefined

describe.skipIf(!isAble)('the benchmark', () => {
  let folder: string
  let mock: Awaited<ReturnType<typeof startMock>>
  let load: string

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-bench-test-'))
    const [mockProgram, loadProgram] = ['mock', 'load'].map(name =>
      compile(name, path.join(root, 'bench'), folder),
    )
    load = loadProgram
    mock = await startMock(mockProgram, folder)
  })

  afterAll(async () => {
    await mock?.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  })

  const ask = (body: string, headers = {}) =>
    fetch(`http://127.0.0.1:${mock.port}${mock.path}`, { method: 'POST', body, headers })

  test.each(SCENARIOS)('$name: the body has the size it names and is the same on every run', scenario => {
    const body = makeBody(scenario, '')
    expect(body).toBe(makeBody(scenario, ''))
    expect(Math.abs(body.length - scenario.bytes)).toBeLessThan(scenario.bytes * 0.1)
  })

  test('the mock upstream answers a chat with usage', async () => {
    const answer = await ask(makeBody(SCENARIOS[0], ''))
    const { usage } = await answer.json()
    expect(usage).toMatchObject({ prompt_tokens: 1117, completion_tokens: 46 })
  })

  test('the mock upstream streams as many events as the model names, then usage, then [DONE]', async () => {
    const text = await (await ask('{"model":"mock-n7","stream":true}')).text()
    const events = text.split('\n\n').filter(event => event !== '')
    expect(events).toHaveLength(7 + 3)
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(JSON.parse(events.at(-2)?.slice(6) ?? '').usage.total_tokens).toBe(1163)
  })

  test('the mock upstream reads a body in chunks', async () => {
    const chunks = ['{"model":"mock-n2",', '"stream":true}'].map(text => new TextEncoder().encode(text))
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const answer = await fetch(`http://127.0.0.1:${mock.port}${mock.path}`, {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit)
    expect((await answer.text()).split('\n\n').filter(event => event !== '')).toHaveLength(2 + 3)
  })

  test('the load counts every answer, event and failure', () => {
    const bodyFile = path.join(folder, 'body.json')
    fs.writeFileSync(bodyFile, '{"model":"mock-n5","stream":true}')
    const run = (...args: string[]) =>
      JSON.parse(
        execFileSync(load, ['-p', String(mock.port), '-b', bodyFile, ...args], {
          encoding: 'utf8',
          stdio: 'pipe',
        }),
      )
    expect(run('-n', '40', '-c', '4')).toMatchObject({ done: 40, err: 0, non200: 0, events: 40 * 8 })
    expect(run('-n', '3', '-c', '1', '-u', '/nowhere')).toMatchObject({ done: 3, non200: 3 })
  })

  test('CPU time of a process that worked is above zero and never falls', () => {
    const first = readCpuUs(mock.pid)
    const second = readCpuUs(mock.pid)
    expect(first.own).toBeGreaterThan(0)
    expect(second.own).toBeGreaterThanOrEqual(first.own)
    expect(readCpuUs(mock.pid, ['mock'])).toMatchObject({ own: 0, apart: expect.any(Number) })
  })
})

test('the cost of an event is measured in every format, as provider and as caller', () => {
  const args = [path.join(root, 'bench/events.mjs'), '--quick', '--json', '--rounds', '1']
  const { rows } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  for (const end of ['from', 'to']) {
    expect(new Set(rows.map((row: Record<string, string>) => row[end]))).toEqual(
      new Set(Object.keys(STREAMS)),
    )
  }
  for (const { medianUs } of rows) expect(medianUs).toBeGreaterThan(0)
})
