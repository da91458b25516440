// Tries inputs on one target until the time is over or an input breaks a guarantee. Mutations come from jsfuzz, counters from
// istanbul. Runs in a worker thread: run.mjs watches it, because an input may not return or may take all memory.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'

const { bundleFile, corpusFolder, seconds, shared, maxInputBytes, inputFile } = workerData
const require = createRequire(import.meta.url)
const { Corpus } = require('jsfuzz/build/src/corpus.js')
const { BuildVerse } = require('jsfuzz/build/src/versifier.js')
const { createInstrumenter } = require('istanbul-lib-instrument')

/** Which input is being tried, for the watcher: the count of inputs, the length, the bytes. */
const progress = new Int32Array(shared, 0, 2)
const current = new Uint8Array(shared, 8)

/** Every 16th input has the shape of earlier ones, with other words and numbers. */
const RHYME_PERIOD = 16

/** How often a counter ran, in steps that tell a loop's first, second and many rounds apart. */
const BUCKETS = Uint8Array.from({ length: 256 }, (_, count) =>
  count === 0
    ? 0
    : count < 4
      ? 1 << (count - 1)
      : count < 8
        ? 8
        : count < 16
          ? 16
          : count < 32
            ? 32
            : count < 128
              ? 64
              : 128,
)

function load() {
  const instrumented = `${bundleFile.slice(0, -4)}.counted.cjs`
  const code = fs.readFileSync(bundleFile, 'utf8')
  fs.writeFileSync(instrumented, createInstrumenter({ compact: true }).instrumentSync(code, bundleFile))
  const target = require(instrumented)
  return { target, coverage: globalThis.__coverage__[bundleFile] }
}

/** The counters of a run, and which of their buckets any run has reached. */
class Coverage {
  constructor({ s, b }) {
    this.statements = s
    this.branches = Object.values(b)
    this.statementCount = Object.keys(s).length
    /** What runs when the target is loaded, and never again. */
    this.loaded = Object.values(s).map(count => count > 0)
    this.seen = new Uint8Array(
      this.statementCount + this.branches.reduce((sum, each) => sum + each.length, 0),
    )
  }

  reset() {
    for (let id = 0; id < this.statementCount; id++) this.statements[id] = 0
    for (const hits of this.branches) for (let at = 0; at < hits.length; at++) hits[at] = 0
  }

  /** True if the last run reached what none before it did. */
  collect() {
    const { seen, statements, statementCount } = this
    let isNew = false
    let index = 0
    const add = count => {
      const bucket = BUCKETS[count > 255 ? 255 : count]
      if ((seen[index] & bucket) !== bucket) {
        seen[index] |= bucket
        isNew = true
      }
      index++
    }
    for (let id = 0; id < statementCount; id++) add(statements[id])
    for (const hits of this.branches) for (let at = 0; at < hits.length; at++) add(hits[at])
    return isNew
  }
}

/** The first line of what a target throws names the broken guarantee; numbers in it may differ from input to input. */
function toGuarantee(error) {
  return String(error?.message ?? error)
    .split('\n')[0]
    .replace(/\d+/g, 'N')
}

async function tryInput(target, bytes) {
  try {
    const pending = target.fuzz(Buffer.from(bytes))
    if (pending !== undefined) await pending
    return undefined
  } catch (error) {
    return error
  }
}

/** A shorter input that breaks the same guarantee: pieces are left out while it does. */
async function shrink(target, bytes, guarantee) {
  let smallest = bytes
  for (let piece = smallest.length >> 1; piece > 0; piece >>= 1) {
    for (let at = 0; at < smallest.length; ) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + piece)])
      const error = await tryInput(target, shorter)
      if (error !== undefined && toGuarantee(error) === guarantee) smallest = shorter
      else at += piece
    }
  }
  return smallest
}

/** Tries one input, with the counters that some guarantees need. */
async function reproduce() {
  const finding = fs.readFileSync(inputFile)
  const error = await tryInput(load().target, finding)
  parentPort.postMessage(
    error === undefined ? { executions: 1 } : { finding, error: String(error.stack ?? error) },
  )
}

async function main() {
  const { target, coverage: counters } = load()
  const corpus = new Corpus([corpusFolder], false)
  for (const seed of target.seeds ?? []) corpus.inputs.push(seed)
  corpus.seedLength = corpus.inputs.length
  const known = corpus.seedLength
  const coverage = new Coverage(counters)
  let verse = null
  let kept = 0
  const startedAt = performance.now()
  const endAt = startedAt + seconds * 1000
  let executions = 0
  while (executions % 64 !== 0 || performance.now() < endAt) {
    const isRhyme = verse !== null && executions % RHYME_PERIOD === 0 && executions > known
    const input = (isRhyme ? verse.Rhyme() : corpus.generateInput()).subarray(0, maxInputBytes)
    current.set(input)
    progress[1] = input.length
    coverage.reset()
    const error = await tryInput(target, input)
    executions++
    Atomics.store(progress, 0, executions)
    if (error !== undefined) {
      const smallest = await shrink(target, input, toGuarantee(error))
      Error.stackTraceLimit = 20
      parentPort.postMessage({
        finding: smallest,
        error: String((await tryInput(target, smallest))?.stack ?? error),
      })
      break
    }
    if (!coverage.collect()) continue
    kept++
    if (executions > known) corpus.putBuffer(Buffer.from(input))
    if (input.length > 0) verse = BuildVerse(verse, Buffer.from(input))
  }
  // Counters hold the last run only: those of all runs follow from what was ever seen.
  const { seen, statementCount, branches } = coverage
  for (let id = 0; id < statementCount; id++) counters.s[id] = seen[id] + (coverage.loaded[id] ? 1 : 0)
  let index = statementCount
  for (const hits of branches) for (let at = 0; at < hits.length; at++) hits[at] = seen[index++]
  parentPort.postMessage({ executions, kept, seconds: (performance.now() - startedAt) / 1000, counters })
}

// Refusals are most of what is thrown, and a trace costs more than the refusal.
Error.stackTraceLimit = inputFile === undefined ? 0 : 20
fs.mkdirSync(path.resolve(corpusFolder), { recursive: true })
await (inputFile === undefined ? main() : reproduce())
