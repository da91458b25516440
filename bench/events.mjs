// npm run bench:events: CPU microseconds of one streamed event, from the provider's bytes to the bytes for the caller,
// through the gateway's own relay. Translated: every format to OpenAI's chunks, and those to every format that is served.
// Passed through: a format to callers of the same. CPU time of the process (its garbage collector and compiler too) over events, not wall time; the formats take
// turns in rounds. The socket is left out: what is written becomes bytes and is counted.
//   npm run bench:events -- [--quick] [--json] [--rounds N]
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'
import { root } from '../tools/build.mjs'
import { DELTAS, STREAMS } from './streams.mjs'

/** Issue 5 "Cost". */
const BOUNDS_US = { 'passed through': 3, translated: 7 }
const ENTRY = `
export { relayStream } from './packages/server/gateway/stream/relay.ts'
export { StreamWriter } from './packages/server/gateway/stream/stream-writer.ts'
export { openAiChatServer } from './packages/llm/formats/openai-chat/server/server.ts'
export { anthropicServer } from './packages/llm/formats/anthropic-messages/server/server.ts'
export { responsesServer } from './packages/llm/formats/openai-responses/server/server.ts'
export { geminiEvents } from './packages/llm/formats/gemini-content/server/server.ts'
export { converseStreamServer } from './packages/llm/formats/bedrock-converse/server/server.ts'
export { cohereServer } from './packages/llm/formats/cohere-v2/server/server.ts'
export { ollamaServer } from './packages/llm/formats/ollama-chat/server/server.ts'
export { CLIENT_FORMATS } from './packages/llm/formats/index.ts'
export { findProvider } from './packages/llm/providers/index.ts'
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
  },
})
const rounds = Number(options.rounds ?? (options.quick ? 3 : 15))
/** Answers in one turn: long enough that the clock of CPU time, in microseconds, is exact. */
const answers = options.quick ? 20 : 60

/** The gateway's parts, bundled as the program is. */
async function loadGateway() {
  mkdirSync(path.join(root, 'dist'), { recursive: true })
  const folder = mkdtempSync(path.join(root, 'dist', 'bench-'))
  try {
    const outfile = path.join(folder, 'events.mjs')
    buildSync({
      stdin: { contents: ENTRY, resolveDir: root, loader: 'ts' },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      packages: 'external',
      alias: {
        '@rideau/llm': path.join(root, 'packages/llm'),
        '@rideau/server': path.join(root, 'packages/server'),
      },
      logLevel: 'silent',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One answer through the relay; gives the bytes that the caller got. */
async function relayOne(gateway, { from: dialectId, surface }, chunks) {
  const format = gateway.CLIENT_FORMATS[dialectId]
  const provider = gateway.findProvider(STREAMS[dialectId].provider)
  const target = { provider, model: 'm', baseUrl: 'https://example.com', apiKey: 'k' }
  let written = 0
  const res = {
    headersSent: false,
    on: () => undefined,
    write(bytes) {
      written += typeof bytes === 'string' ? Buffer.from(bytes).length : bytes.length
      return true
    },
    end: () => undefined,
  }
  const exchange = { res, isGone: false, startedAt: 0, watch: () => undefined, unwatch: () => undefined }
  const writer = new gateway.StreamWriter(exchange, () => {
    res.headersSent = true
  })
  const call = { abort: () => undefined, pause: () => undefined, resume: () => undefined }
  const pipe = sink => {
    for (const chunk of chunks) sink.onChunk(chunk)
    sink.onEnd()
  }
  const answered = {
    requestId: 'req_1',
    created: 1,
    model: 'p/m',
    provider: provider.id,
    format: dialectId,
    isSandbox: false,
    includeUsage: true,
    rewritesUsage: false,
    clock: { elapsedMs: () => 0 },
    call: { request: { model: 'p/m', messages: [], stream: true, includeUsage: true } },
  }
  const encoder = surface.openStream(answered)
  const end = await gateway.relayStream({
    exchange,
    stream: { call, pipe },
    framing: format.framing,
    decoder: format.openStream(target),
    encoder,
    writer,
    includeUsage: true,
    capture: false,
    idleMs: 60_000,
  })
  if (end.error !== undefined || end.finishReason !== 'stop' || end.deliveredTokens < DELTAS) {
    throw new Error(`${dialectId}: the answer was not relayed whole: ${JSON.stringify(end)}`)
  }
  writer.end(encoder.finish({ ...end, bill: { usage: end.usage } }))
  return written
}

/** Every format to OpenAI's chunks, OpenAI's chunks to every format, and each to itself. */
function listWays(gateway) {
  const surfaces = [
    gateway.openAiChatServer,
    gateway.anthropicServer,
    gateway.responsesServer,
    gateway.geminiEvents,
    gateway.converseStreamServer,
    gateway.cohereServer,
    gateway.ollamaServer,
  ]
  return surfaces.flatMap(surface =>
    Object.keys(STREAMS)
      .filter(from => [surface.id, 'openai-chat'].includes(from) || surface.id === 'openai-chat')
      .map(from => ({ from, surface, way: from === surface.id ? 'passed through' : 'translated' })),
  )
}

async function measure(gateway, way, chunks) {
  const before = process.cpuUsage()
  for (let i = 0; i < answers; i++) await relayOne(gateway, way, chunks)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (answers * chunks.length)
}

const sorted = values => [...values].sort((a, b) => a - b)
const shown = value => value.toFixed(2).padStart(8)

async function main() {
  const gateway = await loadGateway()
  const chunksOf = Object.fromEntries(Object.entries(STREAMS).map(([id, { make }]) => [id, make()]))
  const turns = new Map(listWays(gateway).map(way => [way, []]))
  for (const way of turns.keys()) await measure(gateway, way, chunksOf[way.from])
  for (let round = 0; round < rounds; round++) {
    for (const [way, values] of turns) values.push(await measure(gateway, way, chunksOf[way.from]))
  }
  const rows = [...turns].map(([{ from, surface, way }, values]) => {
    const [low, median] = [sorted(values)[0], sorted(values)[values.length >> 1]]
    return { from, to: surface.id, way, minUs: low, medianUs: median, boundUs: BOUNDS_US[way] }
  })
  if (options.json) return console.log(JSON.stringify({ node: process.version, rounds, answers, rows }))
  console.log(
    `CPU µs an event (${rounds} rounds of ${answers} answers of ${DELTAS} events, Node ${process.version})`,
  )
  console.log(`${'from'.padEnd(20)} ${'to'.padEnd(20)} ${'way'.padEnd(15)}      min   median    bound`)
  for (const { from, to, way, minUs, medianUs, boundUs } of rows) {
    console.log(
      `${from.padEnd(20)} ${to.padEnd(20)} ${way.padEnd(15)} ${shown(minUs)} ${shown(medianUs)} ${shown(boundUs)}`,
    )
  }
}

main().catch(error => {
  console.error(`bench: ${error.message}`)
  process.exitCode = 1
})
