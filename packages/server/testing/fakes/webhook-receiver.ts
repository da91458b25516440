import http, { type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders
  /** The received bytes. */
  readonly body: Buffer
  readonly event: { type: string; timestamp: string; data: Record<string, any> }
}

/** A customer's webhook endpoint, on loopback. */
export interface WebhookReceiver {
  readonly url: string
  readonly received: readonly ReceivedWebhook[]
  /** Sets the statuses of the next answers. The last one repeats. Default: 200. */
  answer(...statuses: number[]): void
  /** Resolves once `count` deliveries have arrived. */
  until(count: number): Promise<readonly ReceivedWebhook[]>
  close(): Promise<void>
}

export async function openWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  let statuses = [200]
  let waiting: { count: number; resolve: () => void }[] = []
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    received.push({ headers: req.headers, body, event: JSON.parse(body.toString('utf8')) })
    const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) as number
    res.writeHead(status, { location: '/elsewhere' }).end()
    for (const { resolve } of waiting.filter(({ count }) => count <= received.length)) resolve()
    waiting = waiting.filter(({ count }) => count > received.length)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (...given) => {
      statuses = given
    },
    async until(count) {
      if (received.length < count) await new Promise<void>(resolve => waiting.push({ count, resolve }))
      return received
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** True if the signature is right. Follows Standard Webhooks 1.0.0 with Web Crypto, independent of the code that signs. */
export async function isSigned({ headers, body }: ReceivedWebhook, secret: string): Promise<boolean> {
  const [, encoded = ''] = /^whsec_(.+)$/.exec(secret) ?? []
  const bytes = Uint8Array.from(atob(encoded), letter => letter.charCodeAt(0))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  const [version, signature = ''] = String(headers['webhook-signature']).split(',')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body.toString('utf8')}`
  const given = Uint8Array.from(atob(signature), letter => letter.charCodeAt(0))
  return (
    version === 'v1' && (await crypto.subtle.verify('HMAC', key, given, new TextEncoder().encode(signed)))
  )
}
