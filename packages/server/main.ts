import { fileURLToPath } from 'node:url'
import { openApp } from './app/app.ts'
import { parseDemoArguments, prepareDemo, toDemoEnv, toDemoText } from './app/demo/demo.ts'
import { DEFAULT_OVERRIDES } from './app/parts/app-parts.ts'
import { explainStart } from './app/parts/explain-start.ts'
import { Exceptions } from './app/process/exceptions.ts'
import { openHangupCheck } from './app/process/hangup-check.ts'
import { setHeapOptions } from './app/process/heap-options.ts'
import { lowerHelperThreads } from './app/process/helper-threads.ts'
import { openLog } from './app/process/open-log.ts'
import { handleProcessExceptions } from './app/process/process-exceptions.ts'
import { rotateMasterKey } from './app/rotate-master-key.ts'
import { rotateSigningKeys } from './app/rotate-signing-keys.ts'
import { runWorker } from './app/run-worker.ts'
import { ConfigError } from './app/settings/config-error.ts'
import { listUnknownSettings } from './app/settings/setting-names.ts'
import { parseConfig, SETTING_NAMES } from './app/settings/settings.ts'
import { STOP_SIGNALS, StopOnSignals } from './app/stop-on-signals.ts'
import { welcome } from './app/welcome.ts'
import { systemClock } from './core/clock.ts'
import { endEmbeddedServer } from './storage/embedded/end-server.ts'
import { WORKER_ROLE } from './workers/processes/worker-messages.ts'

export type Command = 'start' | 'gateway' | 'control' | 'demo' | 'rotate-master-key' | 'rotate-signing-keys'

/**
 * Starts the program, which runs until a signal stops it, or runs a task to its end. Rejects if a setting is invalid or a part
 * cannot start.
 */
export async function run(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
): Promise<void> {
  setHeapOptions()
  lowerHelperThreads()
  const demoRows = command === 'demo' ? parseDemoArguments(args) : undefined
  const config = parseConfig(command === 'demo' ? toDemoEnv(env) : env)
  // A terminal or a reader that has gone must not end the program.
  process.stdout.on('error', () => {})
  const log = openLog(config)
  for (const line of listUnknownSettings(env, SETTING_NAMES)) log.warn(line)
  const endDatabase = async (): Promise<void> => {
    if (config.databaseUrl === undefined) await endEmbeddedServer(config.dataDir)
  }
  const exit = (code: number): void => process.exit(code)
  if (command === 'rotate-master-key' || command === 'rotate-signing-keys') {
    // It can be run again at any moment, so it just ends, without a database that it started.
    for (const name of STOP_SIGNALS) process.once(name, () => void endDatabase().finally(() => exit(1)))
    if (command === 'rotate-signing-keys') return await rotateSigningKeys({ ...config, log })
    if (config.masterKey !== undefined && config.formerMasterKeys.length === 0) {
      throw new ConfigError('RIDEAU_FORMER_MASTER_KEYS: must hold the key that RIDEAU_MASTER_KEY replaces')
    }
    return await rotateMasterKey({ ...config, log })
  }
  const workers = command === 'start' || command === 'gateway' ? config.workers : 1
  const planes = { gateway: command !== 'control', control: command !== 'gateway' }
  const exceptions = new Exceptions(log)
  const started = handleProcessExceptions(exceptions, endDatabase)
  const isReplacement = workers > 1 ? openHangupCheck() : undefined
  const options = { signals: process, clock: systemClock, log, endDatabase, exit }
  const stopping = new StopOnSignals(isReplacement === undefined ? options : { ...options, isReplacement })
  const demo = demoRows === undefined ? undefined : await prepareDemo(config, demoRows, log, process.stdout)
  const app = await openApp({ ...config, workers }, planes, log, DEFAULT_OVERRIDES, exceptions).catch(
    error => {
      throw explainStart(error, config)
    },
  )
  started()
  welcome(app, { config, log, output: process.stdout })
  if (demo !== undefined) process.stdout.write(toDemoText(demo, config.baseUrl ?? app.controlUrl ?? ''))
  stopping.started(app)
}

// The supervisor runs this file by itself, with a channel, as a gateway worker.
if (process.argv[2] === WORKER_ROLE && process.argv[1] === fileURLToPath(import.meta.url)) {
  void runWorker(process.env, process)
}
