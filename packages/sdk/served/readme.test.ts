import { type ChildProcess, execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import { createServer as createHttpServer, type Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayApp, openGatewayApp } from '../testing/gateway-app.ts'
import { createIosDevice } from '../testing/native-code.ts'

// Every example of the README runs as it is printed, in Node, against the running app, with the package as it is built. Only
// addresses, keys and the app's own objects (its identity provider's client, its native code) are put in.

const run = promisify(execFile)
const folder = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const repository = path.dirname(path.dirname(folder))
const examples = new Map(
  [
    ...fs
      .readFileSync(path.join(folder, 'README.md'), 'utf8')
      .matchAll(/<!-- example: ([\w-]+) -->\n```js\n([^]*?)```/g),
  ].map(([, name = '', text = '']) => [name, text]),
)

let gateway: GatewayApp
let phone: Server
let home: string
let port: number
let backend: ChildProcess

beforeAll(async () => {
  gateway = await openGatewayApp()
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-sdk-'))
  const installed = path.join(home, 'node_modules')
  const sdk = path.join(installed, '@rideau/sdk')
  fs.mkdirSync(sdk, { recursive: true })
  fs.copyFileSync(path.join(folder, 'package.json'), path.join(sdk, 'package.json'))
  await run(process.execPath, ['tools/build-sdk.mjs', path.join(sdk, 'dist')], { cwd: repository })
  fs.symlinkSync(path.join(repository, 'node_modules/openai'), path.join(installed, 'openai'))
  phone = await openPhone()
  await writeAppObjects()
  port = await findFreePort()
  backend = spawn(process.execPath, write('backend'), {
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    backend.stdout?.once('data', () => resolve())
    backend.once('exit', code => reject(new Error(`the backend ended with ${code}`)))
  })
})
afterAll(async () => {
  backend?.kill()
  fs.rmSync(home, { recursive: true, force: true })
  phone?.close()
  await gateway.close()
})

/** Answers calls of a phone's native code, which has its key in this process. */
async function openPhone(): Promise<Server> {
  const device = createIosDevice(gateway.devices)
  const methods: Readonly<Record<string, (...args: string[]) => Promise<unknown>>> = {
    findKeyId: () => device.findKeyId(),
    storeKeyId: keyId => device.storeKeyId(keyId as string),
    attest: challenge => device.attest(challenge as string),
    assert: (keyId, challenge) => device.assert(keyId as string, challenge as string),
  }
  const server = createHttpServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const { method, args } = JSON.parse(Buffer.concat(chunks).toString())
    res.end(JSON.stringify((await methods[method]?.(...args)) ?? null))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

/** What an app has besides this library: the client of its identity provider, whose stored token has expired, and native code. */
async function writeAppObjects(): Promise<void> {
  const [fresh, stale] = await Promise.all([gateway.signIn('alice'), gateway.signIn('alice', 3_600_000)])
  const source = `
    globalThis.auth = { currentUser: { getIdToken: async renew => renew ? '${fresh}' : '${stale}' } }
    const callPhone = method => async (...args) => {
      const body = JSON.stringify({ method, args })
      const url = 'http://127.0.0.1:${(phone.address() as AddressInfo).port}'
      return (await fetch(url, { method: 'POST', body })).json()
    }
    const names = ['findKeyId', 'storeKeyId', 'attest', 'assert']
    globalThis.nativeAttestation = Object.fromEntries(names.map(name => [name, callPhone(name)]))`
  fs.writeFileSync(path.join(home, 'app-objects.mjs'), source)
}

function environment(): NodeJS.ProcessEnv {
  const { secretKey, managementKey } = gateway.app
  return { PATH: process.env.PATH, RIDEAU_SECRET_KEY: secretKey, RIDEAU_MANAGEMENT_KEY: managementKey }
}

/** Writes an example to a file and returns Node's arguments to run it. */
function write(name: string): string[] {
  const text = examples.get(name) ?? expect.fail(`no example ${name}`)
  const file = path.join(home, `${name}.mjs`)
  const given = text
    .replaceAll('https://gateway.example.com', gateway.gatewayUrl)
    .replaceAll('https://rideau.example.com', gateway.app.controlUrl)
    .replaceAll('rd_pk_prod_...', gateway.publishableKey)
    .replaceAll('localhost:3000', `127.0.0.1:${port}`)
    .replaceAll('listen(3000', `listen(${port}`)
  fs.writeFileSync(file, given)
  return ['--import', path.join(home, 'app-objects.mjs'), file]
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

const EXPECTED: Readonly<Record<string, RegExp>> = {
  'from-backend': /^.*Hello.*\n$/,
  'from-identity-token': /Hello/,
  'from-device': /^device:\S+ .*Hello/,
  calls:
    /^chat .*Hello.* [\d.e-]+\nstreamed .*Hello.*\nembeddings 2\nimages 1\nmodels true\ncanceled false\n$/,
  errors: /^provider_rejected 400 null [\da-f-]{36}\n$/,
  openai: /Hello/,
  management: /rd_pk_/,
}

describe('the example of the README', () => {
  test.each(Object.entries(EXPECTED))('%s runs as printed', async (name, expected) => {
    const { stdout, stderr } = await run(process.execPath, write(name), {
      env: environment(),
      timeout: 60_000,
    })
    expect(stderr).toBe('')
    expect(stdout).toMatch(expected)
  })

  test('each is run by a test', () => {
    expect([...examples.keys()].sort()).toEqual(['backend', ...Object.keys(EXPECTED)].sort())
  })
})

test('the built package has types for each of its exports, and its modules import only each other', () => {
  const dist = path.join(home, 'node_modules/@rideau/sdk/dist')
  const { exports } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const files = [exports['.'], exports['./server']].flatMap(({ types, default: module }) => [types, module])
  expect(files.filter(file => !fs.existsSync(path.join(dist, '..', file)))).toEqual([])
  const modules = (fs.readdirSync(dist, { recursive: true }) as string[]).filter(name =>
    /\.(js|d\.ts)$/.test(name),
  )
  expect(modules.filter(name => /test|testing|served/.test(name))).toEqual([])
  const imported = modules.flatMap(name =>
    [...fs.readFileSync(path.join(dist, name), 'utf8').matchAll(/\bfrom\s+['"]([^'"]+)['"]/g)].map(
      ([, target = '']) => target,
    ),
  )
  expect(imported.length).toBeGreaterThan(20)
  expect(imported.filter(target => !/^\.\.?\/.*\.js$/.test(target))).toEqual([])
})

test('the built package has its types for an app that knows a browser only', async () => {
  const file = path.join(home, 'app.ts')
  fs.writeFileSync(path.join(home, 'package.json'), '{"type":"module"}')
  fs.writeFileSync(
    file,
    `import { type ErrorCode, fromBackend, RideauClient } from '@rideau/sdk'
    import { createControlClient } from '@rideau/sdk/server'
    const tokenSource = fromBackend(async () => 'token')
    const client = new RideauClient({ gatewayUrl: 'https://a.example', tokenSource, fetch })
    const text: string | null | undefined = (await client.chat({ model: 'm', messages: [] })).choices[0]?.message.content
    // @ts-expect-error: an unknown code
    const code: ErrorCode = 'no_such_code'
    const control = createControlClient({ baseUrl: 'https://a.example', managementKey: 'k' })
    // @ts-expect-error: a name is a text
    const name: number = (await control.keys.get({ path: { keyId: 'k' } })).name
    console.log(text, code, name)`,
  )
  const options = '--ignoreConfig --noEmit --strict --target es2022 --lib es2022,dom --module nodenext'
  const tsc = path.join(repository, 'node_modules/.bin/tsc')
  const { stdout } = await run(tsc, [...options.split(' '), '--types', '', file], { cwd: home })
  expect(stdout).toBe('')
})
