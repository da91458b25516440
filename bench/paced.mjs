// Many streams that are open at once, at the pace of a provider's tokens: what each event costs while little else happens, what
// an open stream keeps in memory, and how much later its first byte comes.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { makeBody } from './bodies.mjs'
import { LOAD_CORE } from './contenders.mjs'
import { pinned, readCpuUs, readMemoryKib } from './processes.mjs'

const run = promisify(execFile)
/** An event every 50 ms for 10 s, after the time that a provider thinks. */
const EVENTS = 200
const MODEL = `mock-n${EVENTS}-i50000-d20`
const SCENARIO = { model: MODEL, bytes: 1_000, events: EVENTS }
/** The streams that Rideau's defaults let one key have open. Several keys open more. */
const STREAMS_PER_KEY = 1_000
const OPENED_PER_SECOND = 500
const MEMORY_INTERVAL_MS = 500
const SETTLE_MS = 2_000

/**
 * Opens `streams` streams and reads them to their ends. Returns CPU in microseconds per event (the requests' own included),
 * resident memory in KiB per stream above what was there before, and microseconds to the first byte. Throws if an answer was wrong.
 */
export async function measurePaced(load, contender, folder, streams) {
  const bodyFile = path.join(folder, 'paced.json')
  fs.writeFileSync(bodyFile, makeBody(SCENARIO, contender.modelPrefix))
  const keys = await contender.keys(Math.ceil(streams / STREAMS_PER_KEY))
  const memoryBefore = readMemoryKib(contender.pid, contender.apart)
  let memory = memoryBefore
  const watch = setInterval(() => {
    memory = Math.max(memory, readMemoryKib(contender.pid, contender.apart))
  }, MEMORY_INTERVAL_MS)
  const before = readCpuUs(contender.pid, contender.apart)
  let results
  try {
    results = await Promise.all(
      keys.map(key => open(load, contender, key, bodyFile, streams / keys.length, keys.length)),
    )
  } finally {
    clearInterval(watch)
  }
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  const after = readCpuUs(contender.pid, contender.apart)
  const sum = field => results.reduce((total, result) => total + result[field], 0)
  if (sum('err') + sum('non200') > 0 || sum('done') < streams || sum('events') < streams * EVENTS) {
    throw new Error(`${contender.name}, ${streams} paced streams: wrong answers: ${JSON.stringify(results)}`)
  }
  return {
    cpuUsPerEvent: (after.own - before.own) / sum('events'),
    kibPerStream: (memory - memoryBefore) / streams,
    firstByteP50Us: Math.max(...results.map(result => result.ttfb50)),
    firstByteP99Us: Math.max(...results.map(result => result.ttfb99)),
  }
}

/** Each of these loads opens its part of the streams, so that all together open `OPENED_PER_SECOND`. */
async function open(load, contender, key, bodyFile, streams, loads) {
  const where = ['-p', contender.port, '-u', contender.path, '-H', `Authorization: Bearer ${key}`]
  for (const header of contender.headers) where.push('-H', header)
  const how = ['-b', bodyFile, '-c', streams, '-n', streams, '-s', OPENED_PER_SECOND / loads]
  const [program, ...args] = pinned(LOAD_CORE, [load, ...where, ...how].map(String))
  const { stdout } = await run(program, args)
  return JSON.parse(stdout)
}
