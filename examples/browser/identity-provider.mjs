// An OpenID Connect issuer for trying things out: it signs in anybody who asks, without a password. Use your own instead.
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer } from 'node:http'

const { PORT = '3001', CLIENT_ID = 'rideau-example' } = process.env
const LIFETIME_SECONDS = 3600

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const kid = randomUUID()
let issuer

const encode = value => Buffer.from(JSON.stringify(value)).toString('base64url')

function makeIdToken(user) {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer, aud: CLIENT_ID, sub: user, iat: now, exp: now + LIFETIME_SECONDS }
  const text = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

async function signIn(req) {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  const user = new URLSearchParams(Buffer.concat(chunks).toString()).get('user')
  return { id_token: makeIdToken(user) }
}

const routes = {
  'GET /.well-known/openid-configuration': () => ({ issuer, jwks_uri: `${issuer}/keys` }),
  'GET /keys': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] }),
  'POST /sign-in': signIn,
}

const server = createServer(async (req, res) => {
  const route = routes[`${req.method} ${req.url}`]
  if (route === undefined) return res.writeHead(404).end()
  try {
    const body = JSON.stringify(await route(req))
    // Pages of any origin may sign in here.
    res.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' }).end(body)
  } catch {
    res.destroy()
  }
})
server.listen(Number(PORT), '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}`
  console.log(issuer)
})
