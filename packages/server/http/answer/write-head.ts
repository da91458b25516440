import type { ServerResponse } from 'node:http'
import { isStalled } from '../connection/given-up.ts'
import { isHeaderText, toHeaderText } from './header-text.ts'

/** The limit for all headers that the app writes, including their names. */
const MAX_HEAD_BYTES = 8 * 1024
/** A token (RFC 9110 §5.6.2). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Writes a response's status and headers (name, value, name, value). It never throws for any text: values are encoded
 * or cut (header-text.ts), and a header with an invalid name or beyond 8 KiB in total is left out, so essential headers
 * come first. tools/check-project.mjs ensures that Node's writeHead is called nowhere else.
 */
export function writeHead(res: ServerResponse, status: number, headers: readonly string[] = []): void {
  // Nothing that follows such a request is read.
  if (isStalled(res.req)) res.shouldKeepAlive = false
  if (!isSafe(headers)) {
    res.writeHead(status, toSafe(headers))
    return
  }
  try {
    res.writeHead(status, headers as string[])
  } catch (error) {
    // A second head for one response is a bug in the caller. Otherwise only an invalid name is left as the cause.
    if (res.headersSent) throw error
    res.writeHead(status, toSafe(headers))
  }
}

/**
 * Joins the written head of an answer that takes minutes. Node builds it from about forty strings, and keeps all of them until the
 * answer ends: 1.3 KB more. V8 joins them when a character is read.
 */
export function compactHead(res: ServerResponse): void {
  const { _header: head } = res as unknown as { readonly _header?: unknown }
  if (typeof head === 'string') head.charCodeAt(0)
}

/** Checks values only: names are constants in the code, and checking them would double the cost. */
function isSafe(headers: readonly string[]): boolean {
  let bytes = 0
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] as string
    if (!isHeaderText(value)) return false
    bytes += sizeOf(headers[at] as string, value)
  }
  return bytes <= MAX_HEAD_BYTES
}

/** Returns the headers that can be sent, each with a value that can be sent. */
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
