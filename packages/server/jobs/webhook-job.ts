import type { Clock } from '../core/chance.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { signWebhook } from '../core/webhook-signature.ts'
import type { DeliveryOutcome, DueDelivery } from '../storage/webhook-deliveries.ts'
import { openPeriodic } from './periodic.ts'

/** How long after each failed try the next one comes; after the last it is given up. */
export const RETRY_DELAYS_MS = [5_000, 60_000, 600_000, 3_600_000, 21_600_000]

/** Taken at once, so that one slow receiver delays few others. */
const MOST = 16
const EVERY_MS = 2_000

/** What a receiver answered, or why there is no answer. */
export type PostAnswer =
  | { readonly ok: true; readonly status: number }
  | { readonly ok: false; readonly reason: string }

export interface WebhookSender {
  readonly clock: Clock
  readonly secretBox: SecretBox
  readonly take: (most: number) => Promise<readonly DueDelivery[]>
  /** Through the egress guard, within less than the lease of what was taken. Never rejects. */
  readonly post: (url: string, headers: Record<string, string>, body: string) => Promise<PostAnswer>
  readonly store: (delivery: DueDelivery, outcome: DeliveryOutcome) => Promise<void>
  readonly log: {
    warn(details: object, message: string): void
    error(details: object, message: string): void
  }
}

/** Sends what is due by now, until nothing is. Answers how many tries were made. Rejects where the database is away. */
export async function sendDueWebhooks(sender: WebhookSender, signal?: AbortSignal): Promise<number> {
  let tries = 0
  while (signal?.aborted !== true) {
    const due = await sender.take(MOST)
    await Promise.all(due.map(delivery => sendOne(sender, delivery)))
    tries += due.length
    if (due.length < MOST) break
  }
  return tries
}

async function sendOne(sender: WebhookSender, delivery: DueDelivery): Promise<void> {
  const failure = await tryOnce(sender, delivery)
  const now = sender.clock.now()
  if (failure === undefined) return await sender.store(delivery, { deliveredAt: new Date(now) })
  const delayMs = failure.isFinal ? undefined : RETRY_DELAYS_MS[delivery.attempts - 1]
  if (delayMs === undefined) {
    const { id, webhook_id, event, attempts } = delivery
    sender.log.warn(
      { id, webhook_id, event, attempts, failure: failure.text },
      'a webhook delivery was given up',
    )
  }
  await sender.store(delivery, {
    failure: failure.text,
    nextAttemptAt: delayMs === undefined ? null : new Date(now + delayMs),
  })
}

interface Failure {
  readonly text: string
  /** The receiver wants no more tries. */
  readonly isFinal: boolean
}

/** undefined: delivered. */
async function tryOnce(
  { clock, secretBox, post }: WebhookSender,
  delivery: DueDelivery,
): Promise<Failure | undefined> {
  let secret: string
  try {
    secret = secretBox.open(delivery.secret_cipher, `webhooks:${delivery.webhook_id}`)
  } catch {
    return { text: 'the secret could not be opened', isFinal: false }
  }
  const { id, payload } = delivery
  const answer = await post(
    delivery.url,
    {
      'content-type': 'application/json',
      'user-agent': 'Rideau',
      ...signWebhook({ id, at: clock.now(), payload }, secret),
    },
    payload,
  )
  if (!answer.ok) return { text: answer.reason, isFinal: false }
  if (answer.status >= 200 && answer.status < 300) return undefined
  // 410 Gone: by Standard Webhooks the address wants nothing more.
  return { text: `status ${answer.status}`, isFinal: answer.status === 410 }
}

/** Sends deliveries as they fall due. Closing lets those that are under way end. */
export function openWebhookJob(sender: WebhookSender, everyMs = EVERY_MS): { close(): Promise<void> } {
  const closing = new AbortController()
  const job = openPeriodic(async () => {
    try {
      await sendDueWebhooks(sender, closing.signal)
    } catch (error) {
      sender.log.error({ err: error }, 'webhooks could not be sent')
    }
  }, everyMs)
  return {
    async close() {
      closing.abort()
      await job.close()
    },
  }
}
