// The steps that every agent plays, in one order, each in a new home folder and a new project.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { openGate } from './gate.mjs'
import { makeFolders, startAgent } from './run-agent.mjs'
import { openUpstream, PROVIDER_KEY, PROVIDERS } from './upstream.mjs'

const MODULES = path.join(import.meta.dirname, 'node_modules')
const ANSWER = 'The quick brown fox jumps over the lazy dog.'
/** What an agent may send before it stops: a wrong key and an exhausted quota stay so. Some do not know and ask nine times in a minute. */
const MAX_REFUSALS = 10

/** Whether the agent has a binary for this platform. */
export function isInstalled(agent) {
  const [command, script] = agent.command({ modules: MODULES, prompt: '', file: '' })
  return fs.existsSync(command === process.execPath ? script : command)
}

/**
 * Plays all steps of an agent and resolves with them: `{ step, result, note? }`. `agent`: what its agent.mjs exports.
 *   command({ modules, prompt, model }) → words of the command line; without a model the agent takes its own
 *   format: the wire format in which its own model is asked;  other: a model of another provider
 *   bin(modules) → the folder of the command that the page's lines call
 *   alias: a name that the agent takes for a model of its own; in its project it stands for `other.model`
 *   signalsGroup: SIGTERM goes to its whole group, because its launcher does not pass it on
 *   endsWithZero: its exit code says nothing;  rateWindowSeconds: how often its key with a rate may ask;  absent: steps that it has not
 *   late: steps in which it asks again for a minute before it tells
 *   read(file), edit(file) → calls of its tools: `{ name, args }`;  edited: what its model says instead of calls
 */
export async function playAgent(agent, { name, block }, gateway) {
  const upstream = await openUpstream()
  const gate = await openGate(gateway.url)
  const credentials = PROVIDERS.map(({ provider, path: at }) => ({
    provider,
    base_url: upstream.origin + at,
    api_key: PROVIDER_KEY,
  }))
  const project = await gateway.createProject(name, credentials)
  const { alias, other, rateWindowSeconds } = agent
  if (alias !== undefined) {
    const targets = [{ model: other.model }]
    const fields = { alias, strategy: 'priority', targets }
    await gateway.manage(`/v1/environments/${project.environmentId}/model-aliases`, fields)
  }
  const keys = await gateway.createKeys(name, { ...project, rateWindowSeconds })
  const steps = []
  try {
    for (const [step, play] of Object.entries(STEPS)) {
      const absent = agent.absent?.includes(step) || (step === 'tools by alias' && agent.alias === undefined)
      if (absent) steps.push({ step, result: 'absent' })
      else steps.push(await playStep(step, play, { agent, block, upstream, gate, keys }))
    }
  } finally {
    await Promise.all([upstream.close(), gate.close()])
  }
  return { steps, refused: [...gate.refused].sort() }
}

async function playStep(step, play, stage) {
  const folders = makeFolders()
  let output = ''
  const marker = `task ${randomUUID().slice(0, 8)}`
  stage.gate.answers.length = 0
  /** Starts the agent; the words of the prompt are looked for by the upstream. */
  const start = ({ model, key = stage.keys.RIDEAU_KEY } = {}) => {
    const words = { modules: MODULES, prompt: `Do the ${marker}`, model, file: folders.file }
    const { block, gate } = stage
    const { signalsGroup, bin } = stage.agent
    const command = stage.agent.command(words)
    return startAgent({ block, command, key, gate, signalsGroup, bin: bin?.(MODULES), ...folders })
  }
  const run = async options => {
    const end = await start(options).ended
    output = end.output
    assert.notEqual(end.code, null, `did not end: ${end.signal}`)
    assert.deepEqual(end.left, [], 'left processes behind')
    return end
  }
  // Requests for a title or a route have no tools.
  const minTools = stage.agent.edited === undefined ? 1 : 0
  const script = (turns, options) => stage.upstream.script(marker, turns, { minTools, ...options })
  script([])
  try {
    await play({ ...stage, ...folders, marker, start, run, script, state: stage.upstream.state })
    return { step, result: stage.agent.late?.includes(step) ? 'waits' : 'passed' }
  } catch (error) {
    const seen = stage.gate.answers.map(({ path: at, status }) => `${status} ${at}`).join(', ')
    const breaches = stage.upstream.state.breaches.join('; ')
    const note = [error.message.slice(0, 500), `answers: ${seen}`, breaches, output.slice(-600)].join(
      '\n           ',
    )
    return { step, result: 'failed', note }
  } finally {
    folders.remove()
  }
}

const assertEnded = ({ code }) => assert.equal(code, 0, `ended with ${code}`)

function assertFailed({ code, output }, { endsWithZero }, text) {
  if (!endsWithZero) assert.notEqual(code, 0, 'the end looks like a success')
  assert.match(output, text)
}

/** The agent reads a file and changes it, and its provider saw both results. */
async function playLoop({ agent, file, run, script, state }, options, format) {
  const { edited } = agent
  const calls = edited === undefined ? [agent.read(file, options), agent.edit(file, options)] : []
  script([...calls, { text: edited === undefined ? ANSWER : edited(file) }])
  const end = await run(options)
  assertEnded(end)
  assert.deepEqual(state.breaches, [])
  assert.match(fs.readFileSync(file, 'utf8'), /^colour = blue$/m)
  assert.deepEqual([...new Set(state.seen.map(each => each.format))], [format])
  if (edited !== undefined) return
  assert.ok(end.output.includes(ANSWER), 'the last answer is not in the output')
  const { results, calls: made } = state.seen.findLast(each => each.results.length === calls.length)
  assert.match(results[0], /colour = red/)
  assert.deepEqual(
    made.map(({ name }) => name),
    calls.map(({ name }) => name),
  )
}

const STEPS = {
  async plain({ run, marker, gate }) {
    const end = await run({ model: 'sandbox/echo' })
    assertEnded(end)
    assert.ok(end.output.includes(marker), 'the prompt was not repeated')
    assert.deepEqual(refusalsOf(gate), [])
  },
  async 'own model'({ agent, run, script, state, gate }) {
    script([{ text: ANSWER }])
    const end = await run()
    assertEnded(end)
    assert.ok(end.output.includes(ANSWER), 'the answer is not in the output')
    assert.equal(state.seen[0]?.format, agent.format)
    assert.deepEqual(state.breaches, [])
    assert.deepEqual(refusalsOf(gate), [])
  },
  tools: stage => playLoop(stage, {}, stage.agent.format),
  'tools elsewhere': stage => playLoop(stage, { model: stage.agent.other.model }, stage.agent.other.format),
  'tools by alias': stage => playLoop(stage, { model: stage.agent.alias }, stage.agent.other.format),
  async 'wrong key'({ agent, run, gate, state }) {
    const end = await run({ key: 'rd_sk_dev_wrong' })
    assertFailed(end, agent, /does not recognize this credential/)
    assertRefused(gate, state, 401)
  },
  async 'no budget'({ agent, run, keys, gate, state }) {
    const end = await run({ model: 'sandbox/echo', key: keys.RIDEAU_KEY_WITHOUT_BUDGET })
    assertFailed(end, agent, /budget/i)
    assertRefused(gate, state, 402)
  },
  async 'no quota'({ agent, run, keys, gate, state }) {
    const end = await run({ key: keys.RIDEAU_KEY_WITHOUT_QUOTA })
    assertFailed(end, agent, /quota/i)
    assertRefused(gate, state, 429)
  },
  async 'rate limit'(stage) {
    const key = stage.keys.RIDEAU_KEY_WITH_RATE
    // Three requests in a row, of which one is allowed every three seconds. An agent without tools makes one, so it comes second.
    if (stage.agent.edited !== undefined) await spend(stage.gate.url, key)
    await playLoop(stage, { key }, stage.agent.format)
    assert.ok(refusalsOf(stage.gate).includes(429), 'no request was refused')
  },
  async 'cut stream'({ agent, run, script, state }) {
    script([{ text: ANSWER }], { isCut: true })
    const end = await run()
    assert.ok(state.seen.length > 0, 'the provider was not asked')
    assert.ok(!end.output.includes(ANSWER), 'the whole answer is in the output')
    assertFailed(end, agent, agent.endsWithZero ? /error|interrupted|broke off/i : /./)
  },
  async 'stream cut once'({ run, script, state }) {
    script([{ text: ANSWER }], { isCut: true, cuts: 1 })
    const end = await run()
    assertEnded(end)
    assert.ok(state.seen.length > 1, 'the provider was not asked again')
    assert.ok(end.output.includes(ANSWER), 'the whole answer is not in the output')
  },
  async SIGTERM({ start, script, state }) {
    script([{ text: ANSWER }], { isSilent: true })
    const agent = start()
    const early = await Promise.race([agent.ended, untilSeen(state)])
    assert.equal(early, undefined, `ended by itself: ${early?.output}`)
    agent.terminate()
    const { code, signal, left } = await agent.ended
    assert.ok(code !== 0 || signal !== null, 'the end looks like a success')
    assert.deepEqual(left, [], 'left processes behind')
    // The gateway gives the provider up as soon as the agent has gone.
    assert.equal(await state.seen[0].closed, 'aborted')
  },
}

async function spend(url, key) {
  const messages = [{ role: 'user', content: 'hi' }]
  const { status } = await fetch(`${url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'sandbox/echo', messages }),
  })
  assert.equal(status, 200)
}

const refusalsOf = gate => gate.answers.map(({ status }) => status).filter(status => status >= 400)

function assertRefused(gate, state, status) {
  const refusals = refusalsOf(gate)
  assert.ok(refusals.includes(status), `no answer has the status ${status}`)
  assert.ok(refusals.length <= MAX_REFUSALS, `asked ${refusals.length} times`)
  assert.deepEqual([...state.seen, ...state.asides], [], 'the provider was asked')
}

async function untilSeen(state) {
  while (state.seen.length === 0) await new Promise(resolve => setTimeout(resolve, 50))
}
