// Other gateways as contenders, with nothing on that they do not need to pass a request on: no keys of their own, limits, log or database.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { CONTENDER_CORE, PROXY_KEY, plainTarget, START_TIMEOUT_MS } from './contenders.mjs'
import { findFreePort, findProgram, isListening, pinned, startProcess } from './processes.mjs'

const PORTKEY = { name: '@portkey-ai/gateway', version: '1.15.2' }
/** Longer than a just-in-time compiler needs: the code of some gateways is compiled at run time, as Rideau's is. */
const WARM_UP_SECONDS = 20
/** At 32 connections a slow one needs seconds for a few hundred requests. */
const MIN_SECONDS = 5

/** Portkey's gateway, installed by npm into `cache` at the first run. Throws if npm cannot install it. */
export async function startPortkey(mockPort, folder, cache) {
  const home = path.join(cache, `portkey-${PORTKEY.version}`)
  const program = path.join(home, 'node_modules', PORTKEY.name, 'build/start-server.js')
  if (!fs.existsSync(program)) {
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    const wanted = `${PORTKEY.name}@${PORTKEY.version}`
    execFileSync('npm', ['install', ...flags, '--prefix', home, wanted], { stdio: 'ignore' })
  }
  const port = await findFreePort()
  const command = [process.execPath, program, `--port=${port}`, '--headless']
  const env = { PATH: process.env.PATH, HOME: folder, NODE_ENV: 'production' }
  const server = startProcess(pinned(CONTENDER_CORE, command), path.join(folder, 'portkey.log'), { env })
  await server.waitUntil(() => isListening(port), START_TIMEOUT_MS)
  const headers = ['x-portkey-provider: openai', `x-portkey-custom-host: http://127.0.0.1:${mockPort}/v1`]
  const name = `portkey ${PORTKEY.version}`
  return { ...target(server, port), name, headers }
}

/** LiteLLM's proxy with one worker; undefined if `litellm` is not installed. */
export async function startLiteLlm(mockPort, folder) {
  const program = findProgram('litellm')
  if (program === undefined) return undefined
  const config = path.join(folder, 'litellm.json')
  const upstream = { model: 'openai/*', api_base: `http://127.0.0.1:${mockPort}/v1`, api_key: PROXY_KEY }
  // JSON is YAML.
  fs.writeFileSync(config, JSON.stringify({ model_list: [{ model_name: '*', litellm_params: upstream }] }))
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_MASTER_KEY: PROXY_KEY,
  }
  const port = await findFreePort()
  const command = [program, '--config', config, '--host', '127.0.0.1', '--port', String(port)]
  const server = startProcess(pinned(CONTENDER_CORE, command), path.join(folder, 'litellm.log'), { env })
  await server.waitUntil(() => isListening(port), 3 * START_TIMEOUT_MS)
  return { ...target(server, port), name: `litellm ${readLiteLlmVersion(program)}` }
}

function target({ pid, stop }, port) {
  return { ...plainTarget, port, pid, stop, warmUpSeconds: WARM_UP_SECONDS, minSeconds: MIN_SECONDS }
}

function readLiteLlmVersion(program) {
  const python = path.join(path.dirname(fs.realpathSync(program)), 'python')
  const script = 'import importlib.metadata as m; print(m.version("litellm"))'
  try {
    return execFileSync(python, ['-c', script], { encoding: 'utf8' }).trim()
  } catch {
    return '(unknown version)'
  }
}
