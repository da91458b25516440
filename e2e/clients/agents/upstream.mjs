// A strict provider for the agents: real HTTP on loopback, in the formats of OpenAI, Anthropic and Google.
// It plays a script of turns. Which turn is due is read from the conversation, so retries and side requests do no harm.
import http from 'node:http'
import * as anthropic from './formats/anthropic.mjs'
import * as chat from './formats/chat.mjs'
import * as gemini from './formats/gemini.mjs'
import * as responses from './formats/responses.mjs'

/** The key of the provider credentials: what the gateway must send instead of the caller's. */
export const PROVIDER_KEY = 'a key of the scripted provider'

/** What a side request gets: a title, a summary, the choice of a model. A text that has not the form that it asks for is asked for again. */
const toAside = ({ schema }) => ({
  text: schema === undefined ? 'A short title' : JSON.stringify(makeInstance(schema)),
})

function makeInstance({ type, enum: values, properties = {}, required = Object.keys(properties) }) {
  if (values !== undefined) return values[0]
  if (type?.toLowerCase() !== 'object') return 'text'
  return Object.fromEntries(required.map(name => [name, makeInstance(properties[name])]))
}

const ROUTES = [
  { path: /^\/openai\/v1\/responses$/, format: responses },
  { path: /^\/openai\/v1\/chat\/completions$/, format: chat },
  { path: /^\/anthropic\/v1\/messages$/, format: anthropic },
  { path: /^\/gemini\/v1beta\/models\/[^/]+:(streamGenerateContent|generateContent)$/, format: gemini },
]

/** The provider credentials that reach it: `{ provider, path }`. */
export const PROVIDERS = [
  { provider: 'openai', path: '/openai/v1' },
  { provider: 'anthropic', path: '/anthropic/v1' },
  { provider: 'gemini', path: '/gemini/v1beta' },
]

/**
 * Opens it. `script(turns, { isCut })` sets what the model says next: `{ text }`, or `{ name, args }` for a call of a tool. A request
 * of the script has `marker`, which the prompt contains, and `minTools` tools; all others are side requests. With `isCut` the connection
 * breaks in the middle of a text, for the first `cuts` requests only where that is given. With `isSilent` nothing comes after the head of a stream.
 * `seen`: the requests of the script, `{ format, model, tools, results, closed }`. `breaches`: what a provider would refuse.
 */
export async function openUpstream() {
  const state = { turns: [], marker: '', options: {}, seen: [], asides: [], breaches: [] }
  const server = http.createServer((req, res) => {
    receive(req, res, state).catch(error => {
      state.breaches.push(`${req.url}: ${error.message}`)
      reply(res, 400, { error: { type: 'invalid_request_error', message: error.message } })
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    state,
    origin: `http://127.0.0.1:${server.address().port}`,
    script(marker, turns, options = {}) {
      Object.assign(state, { turns, marker, options, seen: [], asides: [], breaches: [] })
    },
    close: () =>
      new Promise(resolve => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

async function receive(req, res, state) {
  const url = new URL(req.url, 'http://upstream')
  // Knows no model's name: the defaults of the agents are unknown to the gateway, as new models are.
  if (req.method === 'GET') return reply(res, 200, { object: 'list', data: [], models: [] })
  const route = ROUTES.find(({ path }) => path.test(url.pathname))
  if (route === undefined) throw new Error(`no such route: ${req.method} ${url.pathname}`)
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const body = JSON.parse(text)
  const { format } = route
  if (format.readKey(req.headers) !== PROVIDER_KEY)
    throw new Error('the key is not the provider credential’s')
  const conversation = format.read(body, url)
  const isScripted = text.includes(state.marker) && conversation.tools.length >= (state.options.minTools ?? 0)
  if (!isScripted) {
    state.asides.push(conversation)
    return format.write(res, conversation, toAside(conversation), {})
  }
  const { results } = conversation
  const turn = state.turns[results.length]
  state.seen.push({
    ...conversation,
    body,
    closed: new Promise(resolve =>
      res.once('close', () => resolve(res.writableFinished ? 'whole' : 'aborted')),
    ),
  })
  if (turn === undefined) throw new Error(`turn ${results.length + 1} is not scripted`)
  checkCall(turn, conversation)
  const { cuts = Infinity, ...options } = state.options
  if (state.seen.length > cuts) options.isCut = false
  format.write(res, conversation, { ...turn, id: `${format.ID}${results.length + 1}` }, options)
}

/** A model calls only tools that it was given. */
function checkCall({ name }, { tools }) {
  if (name !== undefined && !tools.includes(name)) {
    throw new Error(`the script calls ${name}; the request has ${tools.join(', ') || 'no tools'}`)
  }
}

function reply(res, status, body) {
  if (res.headersSent) return res.destroy()
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
