// How much later the first byte comes through a contender than from the mock itself, at half of the load that it can take. The loop is open:
// requests start on time whatever became of those before, and their latency counts from that time.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { makeBody } from './bodies.mjs'
import { LOAD_CORE } from './contenders.mjs'
import { pinned } from './processes.mjs'

const run = promisify(execFile)
/** Enough that no request waits for a connection. */
const CONNECTIONS = 256

/** Microseconds to the first byte at `rate` requests a second. Throws if an answer was wrong. */
export async function measureFirstByte(load, contender, scenario, folder, rate, seconds) {
  const bodyFile = path.join(folder, 'latency.json')
  fs.writeFileSync(bodyFile, makeBody(scenario, contender.modelPrefix))
  const where = ['-p', contender.port, '-u', contender.path, '-H', `Authorization: Bearer ${contender.key}`]
  for (const header of contender.headers) where.push('-H', header)
  const how = ['-b', bodyFile, '-c', CONNECTIONS, '-r', Math.round(rate), '-d', seconds]
  const [program, ...args] = pinned(LOAD_CORE, [load, ...where, ...how].map(String))
  const { stdout, stderr } = await run(program, args)
  const result = JSON.parse(stdout)
  const wrong =
    result.err > 0 ||
    result.non200 > 0 ||
    result.unfinished > 0 ||
    result.done === 0 ||
    result.events < result.done * scenario.events
  if (wrong)
    throw new Error(`${contender.name}, ${scenario.name} at half load: wrong answers: ${stdout}${stderr}`)
  return { p50Us: result.ttfb50, p99Us: result.ttfb99 }
}
