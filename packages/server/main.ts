import { openApp } from './app/app.ts'
import { LIMITS } from './app/app-parts.ts'
import { parseDemoArguments, prepareDemo, toDemoEnv, toDemoText } from './app/demo.ts'
import { Exceptions } from './app/exceptions.ts'
import { openLog } from './app/open-log.ts'
import { handleProcessExceptions } from './app/process-exceptions.ts'
import { rotateMasterKey } from './app/rotate-master-key.ts'
import { ConfigError, parseConfig } from './app/settings.ts'
import { STOP_SIGNALS, StopOnSignals } from './app/stop-on-signals.ts'
import { welcome } from './app/welcome.ts'
import { systemClock } from './core/clock.ts'
import { endEmbeddedServer } from './storage/embedded/end-server.ts'

export type Command = 'start' | 'gateway' | 'control' | 'demo' | 'rotate-master-key'

/**
 * Starts the program, which runs until a signal stops it, or runs a task to its end. Rejects if a setting is invalid or a part
 * cannot start.
 */
export async function run(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
): Promise<void> {
  const demoRows = command === 'demo' ? parseDemoArguments(args) : undefined
  const config = parseConfig(command === 'demo' ? toDemoEnv(env) : env)
  // A terminal or a reader that has gone must not end the program.
  process.stdout.on('error', () => {})
  const log = openLog(config)
  const endDatabase = async (): Promise<void> => {
    if (config.databaseUrl === undefined) await endEmbeddedServer(config.dataDir)
  }
  const exit = (code: number): void => process.exit(code)
  if (command === 'rotate-master-key') {
    if (config.masterKey !== undefined && config.formerMasterKeys.length === 0) {
      throw new ConfigError('RIDEAU_FORMER_MASTER_KEYS: must hold the key that RIDEAU_MASTER_KEY replaces')
    }
    // It can be run again at any moment, so it just ends, without a database that it started.
    for (const name of STOP_SIGNALS) process.once(name, () => void endDatabase().finally(() => exit(1)))
    return await rotateMasterKey({ ...config, log })
  }
  const planes = { gateway: command !== 'control', control: command !== 'gateway' }
  const exceptions = new Exceptions(log)
  const started = handleProcessExceptions(exceptions, endDatabase)
  const stopping = new StopOnSignals({ signals: process, clock: systemClock, log, endDatabase, exit })
  const demo = demoRows === undefined ? undefined : await prepareDemo(config, demoRows, log, process.stdout)
  const app = await openApp(config, planes, log, LIMITS, exceptions)
  started()
  welcome(app, { config, log, output: process.stdout })
  if (demo !== undefined) process.stdout.write(toDemoText(demo, config.baseUrl ?? app.controlUrl ?? ''))
  stopping.started(app)
}
