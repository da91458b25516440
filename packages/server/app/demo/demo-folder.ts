import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { ConfigError } from '../settings/config-error.ts'

/** Says that a folder was made for the demo, from before its database is filled. */
const MARK = 'demo.mark'
const STATE = 'demo.json'

/** What a filled folder holds besides its database. */
export interface DemoState {
  readonly filledAt: string
  readonly rows: number
  readonly password: string
  readonly invitationToken: string
  readonly developmentKey: string
}

/**
 * Returns what the folder was filled with; undefined: it is new or empty, and is marked as the demo's now. Throws a ConfigError
 * if it holds anything else: the demo never touches other data.
 */
export function openDemoFolder(folder: string): DemoState | undefined {
  const entries = existsSync(folder) ? readdirSync(folder) : []
  if (entries.includes(STATE)) return JSON.parse(readFileSync(path.join(folder, STATE), 'utf8')) as DemoState
  if (entries.includes(MARK))
    throw new ConfigError(
      `${folder} holds a demo that was not filled to its end: remove the folder and start again`,
    )
  if (entries.length > 0)
    throw new ConfigError(
      `${folder} holds something else than a demo: RIDEAU_DATA_DIR must name a new or empty folder, or be left out`,
    )
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(path.join(folder, MARK), '', { mode: 0o600 })
  return undefined
}

/** Stores what the folder was filled with, for later starts. It appears as a whole. */
export function storeDemoState(folder: string, state: DemoState): void {
  const temporary = path.join(folder, `${STATE}.new`)
  writeFileSync(temporary, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 })
  chmodSync(temporary, 0o600)
  renameSync(temporary, path.join(folder, STATE))
}
