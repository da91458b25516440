import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  answerClientError,
  type BrokenAnswer,
  type ClientError,
  isOfOwnRequest,
} from '../../http/head/client-error.ts'
import { getMount } from '../request/prefixes.ts'
import type { EdgeDeps } from './edge-deps.ts'

/** How many bytes are searched for a request line. */
const LINE_BYTES = 8 * 1024
const REQUEST_LINE = /^\S{1,32} (\/[^\s?]*)/

/**
 * Answers a request that Node's parser rejected, in the format of the mount that it was sent to. The path is known if
 * the head was parsed, or if the unparsed bytes begin with a request line. Otherwise the answer has the native format.
 */
export function answerBrokenRequest(
  error: ClientError,
  socket: Duplex,
  answer: ServerResponse<IncomingMessage> | undefined,
  deps: Pick<EdgeDeps, 'newId' | 'baseUrl' | 'prefixes' | 'formats'>,
): void {
  const isOwn = answer !== undefined && isOfOwnRequest(answer, socket)
  const path = isOwn ? answer.req.url : readPath(error.rawPacket)
  const mount = getMount(path ?? '/', deps.formats.mounts.values(), deps.prefixes)
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
