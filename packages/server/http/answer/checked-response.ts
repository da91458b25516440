import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import { isStalled } from '../connection/given-up.ts'
import { toExactHeaderText } from './header-text.ts'

/**
 * Node's ServerResponse for a server whose framework writes the headers. It encodes header values for which Node would
 * throw; such an exception in a callback of the framework is not caught anywhere. Values are not cut, because cookies
 * and addresses must stay whole.
 */
export class CheckedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    // Nothing that follows such a request is read. Node adds the header itself unless it was removed before.
    if (isStalled(this.req)) {
      this.shouldKeepAlive = false
      this.setHeader('Connection', 'close')
    }
    // The reason phrase is dropped: the framework's adds nothing to the status.
    return super.writeHead(status, toChecked(typeof reason === 'object' ? reason : headers))
  }

  override setHeader(name: string, value: number | string | readonly string[]): this {
    return super.setHeader(name, toCheckedValue(value) as number | string | readonly string[])
  }

  override appendHeader(name: string, value: string | readonly string[]): this {
    return super.appendHeader(name, toCheckedValue(value) as string | readonly string[])
  }
}

function toChecked(
  headers: OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined,
): OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined {
  if (headers === undefined) return undefined
  if (Array.isArray(headers)) return headers.map(toCheckedValue)
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, toCheckedValue(value)] as const],
    ),
  )
}

function toCheckedValue(value: OutgoingHttpHeader | readonly string[]): OutgoingHttpHeader {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? toExactHeaderText(value) : value.map(toExactHeaderText)
}
