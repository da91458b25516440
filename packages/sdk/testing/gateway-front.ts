import { randomBytes } from 'node:crypto'
import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openTestApp, type TestApp } from '../../server/testing/harness/app.ts'
import { openTokenMint } from '../../server/testing/harness/token-mint.ts'
import { createScriptedMint, MINT_PATHS, type ScriptedMint } from './scripted-mint.ts'
import type { Received } from './scripted-server.ts'

export interface GatewayFront {
  /** What the library calls: the app's gateway, with the mint routes by script. */
  readonly gatewayUrl: string
  readonly app: TestApp
  readonly mint: ScriptedMint
  close(): Promise<void>
}

/**
 * The running app behind a server that answers the mint and device routes by script, because the gateway does not serve them
 * yet. The tokens are signed by the app's own key, so that the app accepts them. TO SWITCH once it serves the routes: pass
 * `SCRIPTED` as an empty list, register an identity provider and a device in the app, and keep the tests.
 */
const SCRIPTED: readonly string[] = MINT_PATHS

export async function openGatewayFront(): Promise<GatewayFront> {
  const masterKey = randomBytes(32)
  const app = await openTestApp({ RIDEAU_MASTER_KEY: masterKey.toString('base64') })
  const { mint: sign } = await openTokenMint(app, masterKey)
  const publishable = await app.createKey({ kind: 'publishable', name: 'app' })
  const keys = { publishableKey: publishable.key, secretKey: app.secretKey }
  const mint = createScriptedMint(keys, sub => sign(publishable, { sub }))
  const front = createServer((req, res) => {
    const { url = '', method, headers } = req
    const path = SCRIPTED.find(each => each === url)
    if (path === undefined) {
      const onward = sendRequest(`${app.gatewayUrl}${url}`, { method, headers }, answer => {
        res.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(res)
      })
      onward.on('error', () => res.destroy())
      res.on('close', () => onward.destroy())
      req.pipe(onward)
      return
    }
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const json = body === '' ? undefined : JSON.parse(body)
      const received: Received = { method: method ?? '', path, headers, body, json }
      mint.replyOf(path as (typeof MINT_PATHS)[number])(res, received)
    })
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  return {
    gatewayUrl: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    app,
    mint,
    async close() {
      front.closeAllConnections()
      await new Promise(resolve => front.close(resolve))
      await app.close()
    },
  }
}
