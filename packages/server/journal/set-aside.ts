import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import path from 'node:path'
import type { RecordLine } from '../core/records/request-record.ts'

/** A record that the database refuses in any form, and its error. */
export interface RefusedRecord {
  readonly line: RecordLine
  readonly reason: string
}

export interface SetAside {
  /** Appends records, which are on the disk when it returns. Throws if they cannot be written. */
  append(refused: readonly RefusedRecord[]): void
  /** Returns the number of records appended since the start. */
  count(): number
}

export interface SetAsideOptions {
  readonly now: () => number
  /** The file is rotated before it grows beyond this size. */
  readonly maxFileBytes?: number
  /** Older files are removed. */
  readonly maxFiles?: number
}

const NAME = 'refused-records'

/** Returns a file's path. The newest file has the number 0, which is not part of its name. */
export function setAsidePath(folder: string, number = 0): string {
  return path.join(folder, number === 0 ? `${NAME}.jsonl` : `${NAME}.${number}.jsonl`)
}

/**
 * Opens the file of the data folder in which the operator finds the records that the database refuses: one JSON object per
 * line with `at`, `reason` and `record`. A kill before the journal's segment is removed can append a record twice, which
 * `record.id` shows.
 */
export function openSetAside(folder: string, options: SetAsideOptions): SetAside {
  const { now, maxFileBytes = 16 * 1024 * 1024, maxFiles = 8 } = options
  let appended = 0

  function rotate(): void {
    rmSync(setAsidePath(folder, maxFiles - 1), { force: true })
    for (let number = maxFiles - 2; number >= 0; number--) {
      if (existsSync(setAsidePath(folder, number))) {
        renameSync(setAsidePath(folder, number), setAsidePath(folder, number + 1))
      }
    }
  }

  return {
    append(refused) {
      if (refused.length === 0) return
      const at = new Date(now()).toISOString()
      const lines = refused.map(({ line, reason }) => {
        const entry = { at, reason, record: parse(line.json) }
        return `${JSON.stringify(entry)}\n`
      })
      const text = lines.join('')
      const file = setAsidePath(folder)
      const size = existsSync(file) ? statSync(file).size : 0
      if (size > 0 && size + Buffer.byteLength(text) > maxFileBytes) rotate()
      const descriptor = openSync(file, 'a', 0o600)
      try {
        appendFileSync(descriptor, text)
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
      syncFolder(folder)
      appended += refused.length
    },
    count: () => appended,
  }
}

/** A new file survives a power cut only if its folder is synced too. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Returns the parsed JSON, or the text itself if it is not JSON. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return json
  }
}
