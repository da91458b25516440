import { createHmac } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

export interface WebhookMessage {
  /** The event's id, which is the same in all attempts to deliver it. Contains no full stop. */
  readonly id: string
  /** Time of this attempt, in Unix milliseconds. */
  readonly at: number
  readonly payload: string
}

/** Returns the headers that prove a delivery's origin. Source: Standard Webhooks 1.0.0, "Signature scheme", symmetric. */
export function signWebhook({ id, at, payload }: WebhookMessage, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
