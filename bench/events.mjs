// npm run bench:events: CPU microseconds of one streamed event, from the provider's bytes to the bytes for the caller,
// through the gateway's own relay. Translated: every format to OpenAI's chunks, and OpenAI's chunks to every served format.
// Passed through: a format to callers of the same format. CPU time of the process, with its garbage collector and compiler,
// divided by events; not wall time. Rounds are interleaved over the formats. Without a socket: written bytes are counted.
//   npm run bench:events -- [--quick] [--json] [--rounds N]
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'
import { root } from '../tools/build.mjs'
import { DELTAS, STREAMS } from './streams.mjs'

/** The required upper bounds. */
const BOUNDS_US = { 'passed through': 3, translated: 7 }
const ENTRY = `
export { StreamReader } from './packages/server/gateway/attempts/stream-reader.ts'
export { relayStream } from './packages/server/gateway/stream/relay.ts'
export { StreamWriter } from './packages/server/gateway/stream/stream-writer.ts'
export { openAiChatServer } from './packages/llm/formats/openai-chat/server/server.ts'
export { anthropicServer } from './packages/llm/formats/anthropic-messages/server/server.ts'
export { responsesServer } from './packages/llm/formats/openai-responses/server/server.ts'
export { geminiEvents } from './packages/llm/formats/gemini-content/server/server.ts'
export { converseStreamServer } from './packages/llm/formats/bedrock-converse/server/server.ts'
export { cohereServer } from './packages/llm/formats/cohere-v2/server/server.ts'
export { ollamaServer } from './packages/llm/formats/ollama-chat/server/server.ts'
import { FormatRegistry } from './packages/llm/formats/format-registry.ts'
import { FORMATS } from './packages/llm/formats/index.ts'
export const formats = new FormatRegistry(FORMATS)
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
/** Answers in one sample: enough for the clock of CPU time, which counts microseconds. */
const answers = options.quick ? 20 : 60

/** The gateway's modules, bundled like the program. */
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

/** Relays one answer; returns the number of bytes that the caller gets. */
async function relayOne(gateway, { from: formatId, server }, chunks) {
  const format = gateway.formats.client(formatId)
  const provider = gateway.findProvider(STREAMS[formatId].provider)
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
  const ctx = { res, isGone: false, startedAt: 0, watch: () => undefined, unwatch: () => undefined }
  const writer = new gateway.StreamWriter(ctx, () => {
    res.headersSent = true
  })
  const nothing = () => undefined
  const call = { abort: nothing, finish: nothing, pause: nothing, resume: nothing }
  const reader = new gateway.StreamReader(format.framing, format.openStream(target), undefined)
  const pipe = sink => {
    reader.receiver = sink
    for (const chunk of chunks) sink.onChunk(chunk)
    sink.onEnd()
  }
  const answered = {
    requestId: 'req_1',
    created: 1,
    model: 'p/m',
    provider: provider.id,
    format: formatId,
    isSandbox: false,
    includeUsage: true,
    rewritesUsage: false,
    clock: { elapsedMs: () => 0 },
    parsed: { request: { model: 'p/m', messages: [], stream: true, includeUsage: true } },
  }
  const encoder = server.openStream(answered)
  const end = await gateway.relayStream({
    ctx,
    stream: { call, reader, pipe },
    encoder,
    writer,
    includeUsage: true,
    capture: false,
    idleMs: 60_000,
  })
  if (end.error !== undefined || end.finishReason !== 'stop' || end.deliveredTokens < DELTAS) {
    throw new Error(`${formatId}: the answer was not relayed whole: ${JSON.stringify(end)}`)
  }
  writer.end(encoder.finish({ ...end, bill: { usage: end.usage } }))
  return written
}

/** Every format to OpenAI's chunks, OpenAI's chunks to every format, and each to itself. */
function listCases(gateway) {
  const servers = [
    gateway.openAiChatServer,
    gateway.anthropicServer,
    gateway.responsesServer,
    gateway.geminiEvents,
    gateway.converseStreamServer,
    gateway.cohereServer,
    gateway.ollamaServer,
  ]
  return servers.flatMap(server =>
    Object.keys(STREAMS)
      .filter(from => [server.id, 'openai-chat'].includes(from) || server.id === 'openai-chat')
      .map(from => ({ from, server, way: from === server.id ? 'passed through' : 'translated' })),
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
  const samples = new Map(listCases(gateway).map(way => [way, []]))
  for (const way of samples.keys()) await measure(gateway, way, chunksOf[way.from])
  for (let round = 0; round < rounds; round++) {
    for (const [way, values] of samples) values.push(await measure(gateway, way, chunksOf[way.from]))
  }
  const rows = [...samples].map(([{ from, server, way }, values]) => {
    const [low, median] = [sorted(values)[0], sorted(values)[values.length >> 1]]
    return { from, to: server.id, way, minUs: low, medianUs: median, boundUs: BOUNDS_US[way] }
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
