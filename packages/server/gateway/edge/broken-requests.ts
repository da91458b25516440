import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerClientError, type BrokenAnswer, isOfOwnRequest } from '../../http/client-error.ts'
import { findMount } from '../request/prefixes.ts'
import type { EdgeDeps } from './edge-deps.ts'

/** What Node's parser gives of a request that it refuses. */
interface ParserError extends NodeJS.ErrnoException {
  /** The bytes that it was reading. */
  readonly rawPacket?: Buffer
}

/** As far as a request line is looked for. */
const LINE_BYTES = 8 * 1024
const REQUEST_LINE = /^\S{1,32} (\/[^\s?]*)/

/**
 * Answers a request that broke below the router, in the shape of the surface that it was for. Its path is known where
 * its head had been read, or where what could not be read begins with a request line; else the envelope is ours, since
 * nothing tells what the bytes were meant for.
 */
export function answerBrokenRequest(
  error: ParserError,
  socket: Duplex,
  answer: ServerResponse<IncomingMessage> | undefined,
  deps: Pick<EdgeDeps, 'newId' | 'baseUrl' | 'prefixes' | 'formats'>,
): void {
  const isOwn = answer !== undefined && isOfOwnRequest(answer, socket)
  const path = isOwn ? answer.req.url : readPath(error.rawPacket)
  const mount = findMount(path ?? '/', deps.formats.mounts.values(), deps.prefixes)
  const render: BrokenAnswer = (fault, requestId) => {
    const headers: [string, string][] = mount.idHeader === undefined ? [] : [[mount.idHeader, requestId]]
    const more = mount.faultHeaders?.(fault) ?? []
    for (let at = 0; at + 1 < more.length; at += 2) headers.push([more[at] as string, more[at + 1] as string])
    return { body: mount.encodeFault(fault, requestId, deps.baseUrl()), headers }
  }
  answerClientError(error, socket, answer, deps.newId, render)
}

function readPath(packet: Buffer | undefined): string | undefined {
  if (packet === undefined) return undefined
  return REQUEST_LINE.exec(packet.toString('latin1', 0, LINE_BYTES))?.[1]
}
