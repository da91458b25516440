import type { SecretBox } from '../core/access/secret-box.ts'
import { signWebhook } from '../core/access/webhook-signature.ts'
import type { Clock } from '../core/clock.ts'
import type { QueueRoom } from '../core/queue-room.ts'
import type { DeliveryOutcome, DueDelivery } from '../storage/events/webhook-deliveries.ts'
import { type QueueBounds, QueueJob } from './queue-job.ts'

/** The delay after each failed attempt. A delivery is given up after the attempt that follows the last delay. */
export const RETRY_DELAYS_MS = [5_000, 60_000, 600_000, 3_600_000, 21_600_000]

/** Deliveries that are sent at once. */
const BOUNDS: QueueBounds = { most: 128, ofOrganization: 16, everyMs: 2_000 }

/** The receiver's status, or why there is none. */
export type PostResult =
  | { readonly ok: true; readonly status: number }
  | { readonly ok: false; readonly reason: string }

export interface WebhookJobOptions {
  readonly clock: Clock
  readonly secretBox: SecretBox
  /** Claims deliveries that are due. */
  readonly claim: (room: QueueRoom) => Promise<readonly DueDelivery[]>
  /** Sends through the egress guard, in less time than the lease of a claim. Must not reject. */
  readonly post: (
    url: string,
    headers: Record<string, string>,
    body: string,
    orgId: string,
  ) => Promise<PostResult>
  /** Stores the result of an attempt. */
  readonly update: (delivery: DueDelivery, outcome: DeliveryOutcome) => Promise<void>
  readonly log: {
    warn(details: object, message: string): void
    error(details: object, message: string): void
  }
}

/** Sends a claimed delivery once and stores the result. Rejects if the database fails. */
export async function sendDelivery(
  options: Omit<WebhookJobOptions, 'claim'>,
  delivery: DueDelivery,
): Promise<void> {
  const failure = await attempt(options, delivery)
  const now = options.clock.now()
  if (failure === undefined) return await options.update(delivery, { deliveredAt: new Date(now) })
  const delayMs = failure.isFinal ? undefined : RETRY_DELAYS_MS[delivery.attempts - 1]
  if (delayMs === undefined) {
    const { id, webhook_id, event, attempts } = delivery
    const details = { id, webhook_id, event, attempts, failure: failure.text }
    options.log.warn(details, 'a webhook delivery was given up')
  }
  await options.update(delivery, {
    failure: failure.text,
    nextAttemptAt: delayMs === undefined ? null : new Date(now + delayMs),
  })
}

interface AttemptFailure {
  readonly text: string
  /** True: the receiver asked for no further attempts. */
  readonly isFinal: boolean
}

/** Signs and sends the delivery once. Returns why it failed; undefined: it was delivered. */
async function attempt(
  { clock, secretBox, post }: Pick<WebhookJobOptions, 'clock' | 'secretBox' | 'post'>,
  delivery: DueDelivery,
): Promise<AttemptFailure | undefined> {
  let secret: string
  try {
    secret = secretBox.open(delivery.secret_cipher, `webhooks:${delivery.webhook_id}`)
  } catch {
    return { text: 'the secret could not be decrypted', isFinal: false }
  }
  const { id, payload } = delivery
  const result = await post(
    delivery.url,
    {
      'content-type': 'application/json',
      'user-agent': 'Rideau',
      ...signWebhook({ id, at: clock.now(), payload }, secret),
    },
    payload,
    delivery.org_id,
  )
  if (!result.ok) return { text: result.reason, isFinal: false }
  if (result.status >= 200 && result.status < 300) return undefined
  // Standard Webhooks: 410 Gone disables further attempts.
  return { text: `status ${result.status}`, isFinal: result.status === 410 }
}

/** Sends deliveries when they are due. close() resolves when running attempts have ended. */
export function openWebhookJob(options: WebhookJobOptions): { close(): Promise<void> } {
  const { claim, log } = options
  const onError = (error: unknown): void =>
    log.error({ err: error }, 'webhook deliveries could not be sent; retrying in the next run')
  // A result that could not be stored is due again when the lease has ended.
  return new QueueJob({
    ...BOUNDS,
    claim,
    run: delivery => sendDelivery(options, delivery).catch(onError),
    onError,
  })
}
