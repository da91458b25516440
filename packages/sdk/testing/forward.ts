import { request as sendRequest } from 'node:http'
import type { ReceivedRequest, Reply } from './scripted-server.ts'

interface ForwardOptions {
  /** Returns the address that the gateway takes the client to have; it must trust this machine as a proxy. */
  readonly address: () => string
  /** The gateway does its work, and its answer is lost on the way. */
  readonly losesAnswer?: boolean
}

/** Answers by a gateway, so that a test can script some of its answers and count all requests. */
export function forwardTo(gatewayUrl: string, { address, losesAnswer = false }: ForwardOptions): Reply {
  return (res, { method, path, headers, body }: ReceivedRequest) => {
    const { host: _, ...rest } = headers
    const given = { ...rest, 'x-forwarded-for': address() }
    const onward = sendRequest(`${gatewayUrl}${path}`, { method, headers: given }, answer => {
      if (losesAnswer) {
        answer.resume().on('end', () => res.destroy())
        return
      }
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    onward.on('error', () => res.destroy())
    onward.end(body)
  }
}
