// The steps that every client's script plays, in one order. A script gives what its client can do; a missing part is a
// step that the client does not have. Each result is a line of JSON on standard output.
import assert from 'node:assert/strict'

/** What the models of the sandbox repeat. */
export const TEXT = 'The quick brown fox jumps over the lazy dog.'
/** A PNG of one pixel, as base64. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** The arguments of the tool that every script offers, and the form of its structured output. */
export const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
export const TOOL = {
  name: 'weather',
  description: 'The weather of a city.',
  run: ({ city }) => {
    assert.equal(typeof city, 'string')
    return '21 degrees'
  },
}

const STEP_MS = 40_000
/** Above the pauses of clients that retry three times; below what an exhausted quota would have them wait. */
const REFUSAL_MS = 20_000
const ABORT_AFTER_MS = 300

/**
 * Plays all steps. `configure(key)` returns the client as docs/clients.md shows it; `client` has these functions, which
 * get it: ask(c, model, text) → text; stream(c, model, text) → pieces; tools(c, model) → the last text; json(c, model) → value;
 * reason(c, model) → the second answer's text; see(c, model, text) → text; draw(c, model) → base64; embed(c, model, texts) → vectors;
 * abort(c, model, text, signal) → promise. `retries`: the client retries a 429 by itself. `waits`: it
 * sleeps before it tells of a quota that is exhausted for longer, whatever the answer says.
 */
export async function playSteps(configure, client) {
  const { RIDEAU_KEY } = process.env
  const own = () => configure(RIDEAU_KEY)
  const refuse = async (key, status) => {
    const asked = Promise.resolve().then(() => client.ask(configure(key), 'sandbox/echo', TEXT))
    const error = await within(REFUSAL_MS, asked).then(
      text => assert.fail(`answered ${JSON.stringify(text)}`),
      reason => reason,
    )
    assert.equal(findStatus(error), status, `${error}`)
  }
  const steps = {
    plain: async () => assert.equal(await client.ask(own(), 'sandbox/echo', TEXT), TEXT),
    stream: async () => {
      const pieces = await collect(client.stream(own(), 'sandbox/echo', TEXT))
      assert.equal(pieces.join(''), TEXT)
      assert.ok(pieces.length > 1, 'one piece only')
    },
    tools: async () =>
      assert.match(await client.tools(own(), 'sandbox/tools'), /The tool answered: .*21 degrees/),
    structured: async () => assert.deepEqual(await client.json(own(), 'sandbox/json'), { city: 'text' }),
    reasoning: async () =>
      assert.match(await client.reason(own(), 'sandbox/reasoning'), /Signed reasoning came back from 1 /),
    'image input': async () => assert.equal(await client.see(own(), 'sandbox/echo', TEXT), TEXT),
    'image output': async () => assert.match(await client.draw(own(), 'sandbox/image'), /^iVBOR/),
    embeddings: async () => {
      const vectors = await client.embed(own(), 'sandbox/embed', [TEXT, 'another'])
      assert.deepEqual(
        vectors.map(vector => vector.length),
        [64, 64],
      )
    },
    'wrong key': () => refuse('rd_sk_dev_wrong', 401),
    'no budget': () => refuse(process.env.RIDEAU_KEY_WITHOUT_BUDGET, 402),
    'no quota': () => refuse(process.env.RIDEAU_KEY_WITHOUT_QUOTA, 429),
    'rate limit': async () => {
      const limited = () => client.ask(configure(process.env.RIDEAU_KEY_WITH_RATE), 'sandbox/echo', TEXT)
      assert.equal(await limited(), TEXT)
      if (client.retries) assert.equal(await limited(), TEXT)
      else assert.equal(await untilRefused(limited), 429)
    },
    'cut stream': async () => {
      const seen = []
      await assert.rejects(async () => {
        for await (const piece of await client.stream(own(), 'sandbox/interrupted', TEXT)) seen.push(piece)
      })
      assert.ok(seen.length > 0, 'no text came before the error')
    },
    abort: async () => {
      const controller = new AbortController()
      const asked = Promise.resolve().then(() => client.abort(own(), 'sandbox/slow', TEXT, controller.signal))
      setTimeout(() => controller.abort(), ABORT_AFTER_MS)
      await assert.rejects(within(STEP_MS, asked), error => !(error instanceof StepTimeout))
    },
  }
  const parts = {
    plain: 'ask',
    stream: 'stream',
    tools: 'tools',
    structured: 'json',
    reasoning: 'reason',
    'image input': 'see',
    'image output': 'draw',
    embeddings: 'embed',
    'cut stream': 'stream',
    abort: 'abort',
  }
  for (const [step, play] of Object.entries(steps)) {
    const part = client[parts[step] ?? 'ask']
    if (part === undefined) print({ step, result: 'absent' })
    else if (step === 'no quota' && client.waits) print({ step, result: 'waits' })
    else print(await playOne(step, play))
  }
  // A client may keep connections open.
  process.exit(0)
}

async function playOne(step, play) {
  try {
    await within(STEP_MS, play())
    return { step, result: 'passed' }
  } catch (error) {
    const note = String(error?.message ?? error)
      .slice(0, 500)
      .replaceAll(process.env.RIDEAU_URL, '{gateway}')
    return { step, result: 'failed', note }
  }
}

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

class StepTimeout extends Error {}

function within(ms, promise) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new StepTimeout(`no end after ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** The status of the first of twenty calls that is refused: on a busy machine a window may end before the second. */
async function untilRefused(call) {
  for (let count = 0; count < 20; count++) {
    try {
      await call()
    } catch (error) {
      return findStatus(error)
    }
  }
  return undefined
}

async function collect(pieces) {
  const all = []
  for await (const piece of await pieces) if (piece !== '') all.push(piece)
  return all
}

/** The HTTP status of a client's error: each has it in another place. */
export function findStatus(error, depth = 0) {
  if (error === null || typeof error !== 'object' || depth > 4) return undefined
  const own = [error.status, error.statusCode, error.status_code, error.$metadata?.httpStatusCode, error.code]
  const found = own.find(value => typeof value === 'number' && value >= 400 && value < 600)
  if (found !== undefined) return found
  return [error.lastError, error.cause, error.response, error.rawResponse, error.$response]
    .map(inner => findStatus(inner, depth + 1))
    .find(status => status !== undefined)
}
