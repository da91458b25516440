import { parseArgs } from 'node:util'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { DEMO_SIGN_INS } from '../../demo/demo-people.ts'
import { DEMO_HOME } from '../../demo/demo-projects.ts'
import { fillDemo } from '../../demo/fill-demo.ts'
import { openStorage } from '../../storage/open-storage.ts'
import { openFileSecretBox } from '../../storage/secrets/master-key.ts'
import type { Output } from '../process/open-log.ts'
import { ConfigError } from '../settings/config-error.ts'
import type { Config } from '../settings/settings.ts'
import { type DemoState, openDemoFolder, storeDemoState } from './demo-folder.ts'

const DEFAULT_FOLDER = './data-demo'
const DEFAULT_ROWS = 400_000
const MAX_ROWS = 5_000_000

/** Returns the settings with the demo's own folder where none is given. Throws a ConfigError for settings that reach other data. */
export function toDemoEnv(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'RIDEAU_MASTER_KEY']) {
    if ((env[name] ?? '') !== '')
      throw new ConfigError(`${name}: must not be set for the demo, which has a database of its own`)
  }
  if (env.NODE_ENV === 'production')
    throw new ConfigError('NODE_ENV: the demo prints its passwords, so it does not start in production')
  const folder = env.RIDEAU_DATA_DIR ?? ''
  return { ...env, RIDEAU_DATA_DIR: folder === '' ? DEFAULT_FOLDER : folder }
}

/** Returns the number of records that the arguments ask for: `--rows N`. */
export function parseDemoArguments(args: readonly string[]): number {
  try {
    const { values } = parseArgs({ args: [...args], options: { rows: { type: 'string' } } })
    const rows = Number(values.rows ?? DEFAULT_ROWS)
    if (Number.isInteger(rows) && rows >= 1 && rows <= MAX_ROWS) return rows
  } catch {
    // The message below says what is accepted.
  }
  throw new ConfigError(`the demo accepts --rows N, an integer from 1 to ${MAX_ROWS.toLocaleString('en')}`)
}

/** Fills the demo's database unless an earlier start did. Returns what to sign in with. */
export async function prepareDemo(
  { dataDir }: Pick<Config, 'dataDir'>,
  rows: number,
  log: { info(line: string): void },
  output: Output,
): Promise<DemoState> {
  const known = openDemoFolder(dataDir)
  if (known !== undefined) return known
  const storage = await openStorage({ databaseUrl: undefined, dataDir, log: line => log.info(line) })
  try {
    const password = systemRandom.bytes(9).toString('base64url')
    const deps = {
      db: storage.db,
      pool: storage.pool,
      secretBox: openFileSecretBox(dataDir, systemRandom),
      clock: systemClock,
      random: systemRandom,
      newId: openIds(systemClock, systemRandom),
    }
    const onProgress = toProgress(rows, output)
    const secrets = await fillDemo(deps, { rows, password, onProgress })
    const filledAt = new Date(systemClock.now()).toISOString()
    const state = { filledAt, rows, password, ...secrets }
    storeDemoState(dataDir, state)
    return state
  } finally {
    await storage.close()
  }
}

/** Writes a line at each tenth. */
function toProgress(rows: number, output: Output): (done: number) => void {
  let tenths = 0
  output.write(`  Writing ${rows.toLocaleString('en')} requests of 90 days …\n`)
  return done => {
    if (Math.floor(done * 10) <= tenths) return
    tenths = Math.floor(done * 10)
    output.write(`  ${tenths * 10} %\n`)
  }
}

/** Returns the text that says how to sign in. */
export function toDemoText(state: DemoState, baseUrl: string): string {
  const people = DEMO_SIGN_INS.map(({ email, role }) => `    ${email.padEnd(24)} ${role}`)
  return `${[
    '',
    `  The demo ends at ${state.filledAt}; remove its folder to make it anew.`,
    '',
    `  Open ${baseUrl}/sign-in?next=${DEMO_HOME}`,
    '  and sign in as',
    '',
    ...people,
    '',
    `  with the password ${state.password}`,
    '',
    `  An invitation to accept: ${baseUrl}/accept-invitation#token=${state.invitationToken}`,
    `  A key of development:    ${state.developmentKey}`,
    '',
  ].join('\n')}\n`
}
