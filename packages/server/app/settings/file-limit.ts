import { readFileSync } from 'node:fs'

/** What Node raises the limit to on macOS, and more than any other system's default. */
const UNKNOWN = 10_240

/** Returns how many file descriptors this process may open. Node raises its soft limit to the hard one at the start. */
export function readFileLimit(): number {
  let text: string
  try {
    text = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Not Linux.
    return UNKNOWN
  }
  return parseFileLimit(text) ?? UNKNOWN
}

/** Parses the text of /proc/self/limits. Returns undefined if it names no number. */
export function parseFileLimit(text: string): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1]
  return soft === undefined ? undefined : Number(soft)
}
