import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { makeBody } from './bodies.mjs'
import { LOAD_CORE } from './contenders.mjs'
import { pinned, readCpuUs } from './processes.mjs'

const run = promisify(execFile)
export const CONNECTIONS = 32
/** Work after the answers (the log's batches) counts: the second reading waits for it. */
const SETTLE_MS = 400

/** One sample of one contender: its CPU time divided by its requests. Throws if an answer was wrong. */
export async function measure(load, contender, scenario, folder, forSeconds) {
  const bodyFile = path.join(folder, 'body.json')
  fs.writeFileSync(bodyFile, makeBody(scenario, contender.modelPrefix))
  const route = scenario.format === undefined ? contender.path : contender.routes[scenario.format]
  const where = ['-p', contender.port, '-u', route, '-H', `Authorization: Bearer ${contender.key}`]
  for (const header of contender.headers) where.push('-H', header)
  const how = ['-b', bodyFile, '-c', CONNECTIONS, '-d', Math.max(forSeconds, contender.minSeconds)]
  const [program, ...args] = pinned(LOAD_CORE, [load, ...where, ...how].map(String))
  const before = readCpuUs(contender.pid, contender.apart)
  const { stdout, stderr } = await run(program, args)
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  const after = readCpuUs(contender.pid, contender.apart)
  const result = JSON.parse(stdout)
  const wrong =
    result.err > 0 || result.non200 > 0 || result.done === 0 || result.events < result.done * scenario.events
  if (wrong) throw new Error(`${contender.name}, ${scenario.name}: wrong answers: ${stdout}${stderr}`)
  return {
    cpuUs: (after.own - before.own) / result.done,
    databaseCpuUs: (after.apart - before.apart) / result.done,
    requestsPerSecond: result.rps,
  }
}
