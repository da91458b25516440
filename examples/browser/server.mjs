// Serves the page, the client library and the page's three settings. It has no secret, and makes no call of its own.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const { RIDEAU_PUBLISHABLE_KEY: publishableKey, PORT = '3000' } = process.env
const { RIDEAU_GATEWAY_URL: gatewayUrl = 'http://127.0.0.1:8787' } = process.env
const { IDENTITY_PROVIDER_URL: identityProviderUrl = 'http://127.0.0.1:3001' } = process.env

if (!publishableKey?.startsWith('rd_pk_')) {
  console.error(
    'Set RIDEAU_PUBLISHABLE_KEY to a key that starts with rd_pk_. No other kind may be in a page.',
  )
  process.exit(1)
}

const here = path.dirname(fileURLToPath(import.meta.url))
const sdk = path.join(here, '../../packages/sdk/dist')

/** Returns the type and content of what a path names, or undefined. */
async function find(url) {
  if (url === '/') return ['text/html; charset=utf-8', await readFile(path.join(here, 'index.html'))]
  if (url === '/page.js') return ['text/javascript', await readFile(path.join(here, 'page.js'))]
  const config = { gatewayUrl, publishableKey, identityProviderUrl }
  if (url === '/config.json') return ['application/json', JSON.stringify(config)]
  const [, module] = /^\/sdk\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(url) ?? []
  return module === undefined ? undefined : ['text/javascript', await readFile(path.join(sdk, module))]
}

const server = createServer(async (req, res) => {
  const found = await find(req.url).catch(error => console.error(error.message))
  if (found === undefined) return res.writeHead(404).end()
  res.writeHead(200, { 'content-type': found[0] }).end(found[1])
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
