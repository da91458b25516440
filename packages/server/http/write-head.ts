import type { ServerResponse } from 'node:http'
import { isHeaderText, toHeaderText } from './header-text.ts'

/** All headers of ours together, names included. */
const MAX_HEAD_BYTES = 8 * 1024
/** A token (RFC 9110 §5.6.2). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Writes a response's status and headers (name, value, name, value): the only place where Node's writeHead is called, held by
 * tools/check-house.mjs. No text makes it throw: a value is encoded or cut (header-text.ts), and a header that has no valid
 * name, or that no longer fits into 8 KiB, is left out. Essential headers come first.
 */
export function writeHead(res: ServerResponse, status: number, headers: readonly string[] = []): void {
  if (!isSafe(headers)) {
    res.writeHead(status, toSafe(headers))
    return
  }
  try {
    res.writeHead(status, headers as string[])
  } catch (error) {
    // A second head of one response is a mistake in the code; nothing else is left but a name.
    if (res.headersSent) throw error
    res.writeHead(status, toSafe(headers))
  }
}

/** Of the values only: names are written in the code, and checking them here costs as much as all the rest. */
function isSafe(headers: readonly string[]): boolean {
  let bytes = 0
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string
    if (!isHeaderText(value)) return false
    bytes += sizeOf(headers[at] as string, value)
  }
  return bytes <= MAX_HEAD_BYTES
}

/** What of these headers can be sent, each as it can be sent. */
export function toSafe(headers: readonly string[]): string[] {
  const safe: string[] = []
  let bytes = 0
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string
    const value = toHeaderText(headers[at + 1] as string)
    if (!NAME.test(name) || bytes + sizeOf(name, value) > MAX_HEAD_BYTES) continue
    bytes += sizeOf(name, value)
    safe.push(name, value)
  }
  return safe
}

/** `name: value\r\n` */
function sizeOf(name: string, value: string): number {
  return name.length + value.length + 4
}
