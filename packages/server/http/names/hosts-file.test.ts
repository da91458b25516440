import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { HostsFile } from './hosts-file.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'rideau-hosts-'))
const file = path.join(folder, 'hosts')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('returns the addresses of names and aliases, and reads a changed file again', async () => {
  writeFileSync(
    file,
    '# comment\n10.0.0.1  One one-alias # 10.0.0.9 nine\r\n::1 one\n\nnonsense one\n10.0.0.2\ttwo\n',
  )
  const hosts = new HostsFile(file)
  const v4 = { address: '10.0.0.1', family: 4 }
  expect(await hosts.list('ONE.')).toEqual([v4, { address: '::1', family: 6 }])
  expect(await hosts.list('one-alias')).toEqual([v4])
  expect(await hosts.list('two')).toEqual([{ address: '10.0.0.2', family: 4 }])
  for (const name of ['nine', 'nonsense', 'constructor', '__proto__', '']) {
    expect(await hosts.list(name)).toEqual([])
  }
  writeFileSync(file, '10.0.0.3 one\n')
  expect(await hosts.list('one')).toEqual([{ address: '10.0.0.3', family: 4 }])
  expect(await hosts.list('two')).toEqual([])
})

test('returns nothing without a file', async () => {
  expect(await new HostsFile(path.join(folder, 'none')).list('localhost')).toEqual([])
})
