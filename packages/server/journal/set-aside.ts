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
import type { RecordLine } from '../core/request-record.ts'

/** A record that the database refuses in any form, and why. */
export interface RefusedRecord {
  readonly line: RecordLine
  readonly reason: string
}

export interface SetAside {
  /** Appends records; they are on the disk when it returns. Throws where the disk refuses. */
  append(refused: readonly RefusedRecord[]): void
  /** Records that were appended since the start. */
  count(): number
}

export interface SetAsideOptions {
  readonly now: () => number
  /** The file is rotated where it would grow beyond it. */
  readonly maxFileBytes?: number
  /** Older ones are removed. */
  readonly maxFiles?: number
}

const NAME = 'refused-records'

/** The newest file of them has the number 0, which stands in no name. */
export function setAsidePath(folder: string, number = 0): string {
  return path.join(folder, number === 0 ? `${NAME}.jsonl` : `${NAME}.${number}.jsonl`)
}

/**
 * What the database refuses, kept in a file of the data folder for the operator: one JSON object a line, `at`, `reason` and
 * `record`. A kill between the append and the removal of the journal's segment appends a record twice: `record.id` tells.
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

/** A new file is there after a power cut only if its folder is on the disk too. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** As text where it is no JSON. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return json
  }
}
