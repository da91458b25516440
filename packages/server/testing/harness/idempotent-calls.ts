import type { TestApp } from './app.ts'
import { PRICED_CHAT } from './limited-app.ts'

export interface IdempotentCallOptions {
  /** Default: a chat with a price. */
  readonly body?: object
  /** Default: the app's secret key. */
  readonly key?: string
  /** Default: `/v1/chat`. */
  readonly route?: string
  readonly headers?: Record<string, string>
}

/** Calls with an idempotency key. The outcome is the status and the error's code, `replayed`, `made` or `broken`. */
export async function callWithKey(
  app: TestApp,
  idempotencyKey: string,
  options: IdempotentCallOptions = {},
): Promise<string> {
  const { body = PRICED_CHAT, route = '/v1/chat', key, headers } = options
  const response = await app.call(route, body, {
    ...(key === undefined ? {} : { key }),
    headers: { 'idempotency-key': idempotencyKey, ...headers },
  })
  const text = await response.text()
  if (response.status === 200) {
    if (text.includes('event: error')) return '200 broken'
    return response.headers.get('idempotent-replayed') === 'true' ? '200 replayed' : '200 made'
  }
  return `${response.status} ${JSON.parse(text).error.code}`
}
