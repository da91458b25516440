import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DatabaseInUseError, JournalInUseError } from '../../storage/instance-lock.ts'
import { explainStart, prepareDataFolder } from './explain-start.ts'

const settings = {
  host: '127.0.0.1',
  gatewayPort: 8787,
  controlPort: 8788,
  metricsPort: undefined,
  databaseUrl: undefined,
  dataDir: '/srv/rideau',
}

async function failToListen(host: string, port: number): Promise<NodeJS.ErrnoException> {
  return await new Promise((resolve, reject) => {
    const server = net.createServer()
    server.on('error', resolve)
    server.listen({ host, port }, () => server.close(() => reject(new Error('the port was free'))))
  })
}

describe('a start that fails names the setting', () => {
  const taken = net.createServer()
  let port: number
  beforeAll(async () => {
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
    port = (taken.address() as AddressInfo).port
  })
  afterAll(() => void taken.close())

  test.each(['gatewayPort', 'controlPort', 'metricsPort'] as const)('of a taken port: %s', async setting => {
    const error = explainStart(await failToListen('127.0.0.1', port), { ...settings, [setting]: port })
    const name = `RIDEAU_${setting.replace('Port', '').toUpperCase()}_PORT`
    expect(error).toMatchObject({
      name: 'ConfigError',
      message: `${name}: 127.0.0.1:${port} is taken by another process`,
    })
  })

  test('of a port that two of its own listeners have', async () => {
    const failure = await failToListen('127.0.0.1', port)
    expect(explainStart(failure, { ...settings, gatewayPort: port, controlPort: port })).toMatchObject({
      message: `RIDEAU_GATEWAY_PORT and RIDEAU_CONTROL_PORT: both are ${port}`,
    })
  })

  test.each([
    ['192.0.2.1', 'RIDEAU_GATEWAY_PORT: 192.0.2.1:8787 is no address of this machine'],
    ['host.invalid', 'RIDEAU_HOST: host.invalid is no address of this machine'],
  ])('of an address that is not of this machine: %s', async (host, message) => {
    const failure = await failToListen(host, 8787)
    // A machine without any name server says EAI_AGAIN, of the same call.
    expect(explainStart(failure, { ...settings, host })).toMatchObject({ name: 'ConfigError', message })
  })

  test('of a database that another process uses', () => {
    const failure = new DatabaseInUseError('another gateway process already runs on this database')
    const ofFolder = `RIDEAU_DATA_DIR: /srv/rideau: ${failure.message}`
    expect(explainStart(failure, settings)).toMatchObject({ name: 'ConfigError', message: ofFolder })
    const ofServer = explainStart(failure, { ...settings, databaseUrl: 'postgres://secret@host/db' }) as Error
    expect(ofServer.message).toBe(`DATABASE_URL: ${failure.message}`)
  })

  test('of a data folder that another gateway uses', () => {
    const failure = new JournalInUseError('another gateway process writes its journal in this folder')
    const message = `RIDEAU_DATA_DIR: /srv/rideau/journal: ${failure.message}: stop it, or give each gateway a data folder of its own`
    expect(explainStart(failure, settings)).toMatchObject({ name: 'ConfigError', message })
  })
})

test('any other error stays as it is, with its stack', () => {
  for (const error of [
    new Error('broken'),
    Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' }),
    'text',
  ])
    expect(explainStart(error, settings)).toBe(error)
})

describe('the data folder', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'rideau-folder-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('is made with all that it is in, for its user only, and may be there', () => {
    const inner = path.join(folder, 'a', 'b')
    prepareDataFolder(inner)
    prepareDataFolder(inner)
    expect(statSync(inner).mode & 0o777).toBe(0o700)
  })

  test('is refused where a part of it is a file', () => {
    const file = path.join(folder, 'file')
    writeFileSync(file, '')
    for (const wrong of [file, path.join(file, 'inner')])
      expect(() => prepareDataFolder(wrong)).toThrow(
        `RIDEAU_DATA_DIR: ${wrong} cannot be made or written: a part of its path is a file`,
      )
  })

  test.runIf(process.platform === 'linux')('is refused where nobody can make folders', () => {
    expect(() => prepareDataFolder('/proc/rideau/inner')).toThrow(
      'RIDEAU_DATA_DIR: /proc/rideau/inner cannot be made',
    )
  })
})
