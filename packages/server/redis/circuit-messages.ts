import type { CircuitName } from '../core/attempts/circuit.ts'
import type { CircuitSharing, CircuitUpdate } from '../core/attempts/circuit-sharing.ts'
import { type OnException, runGuarded, throwLater } from '../core/on-exception.ts'
import { openRedis } from './open-redis.ts'

export interface CircuitMessagesOptions {
  readonly url: string
  readonly newId: () => string
  /** Called with what another process announced. */
  readonly apply: (update: CircuitUpdate) => void
  readonly onException?: OnException
}

export interface CircuitMessages extends CircuitSharing {
  close(): void
}

const CHANNEL = 'rideau:circuits'
const MAX_NAME_CHARS = 1024

/** Deletes a claim if it is still this process's own. */
const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

/**
 * Tells all gateway processes what the circuits of one do, and lets one of them at a time probe a target. A message that is
 * lost costs a process the failures that the others had, or a probe of its own.
 */
export function openCircuitMessages(options: CircuitMessagesOptions): CircuitMessages {
  const { url, newId, apply, onException = throwLater } = options
  const self = newId()
  const publisher = openRedis({ url, name: 'rideau-circuits' })
  const subscriber = openRedis({ url, name: 'rideau-circuits-subscriber', commandTimeoutMs: 5000 })
  subscriber.on('message', (_channel: string, text: string) =>
    runGuarded('the circuits of another gateway', onException, () => {
      const update = parse(text, self)
      if (update !== undefined) apply(update)
    }),
  )
  subscriber.on('ready', () => subscriber.subscribe(CHANNEL).catch(() => subscriber.disconnect(true)))
  for (const redis of [publisher, subscriber]) redis.connect().catch(() => {})

  return {
    publish(update) {
      publisher.publish(CHANNEL, JSON.stringify({ ...update, from: self })).catch(() => {})
    },
    async claimProbe(name, leaseMs) {
      try {
        return (await publisher.set(toKey(name), self, 'PX', leaseMs, 'NX')) === 'OK'
      } catch {
        return true
      }
    },
    releaseProbe(name) {
      publisher.eval(RELEASE, 1, toKey(name), self).catch(() => {})
    },
    close() {
      for (const redis of [publisher, subscriber]) redis.disconnect()
    },
  }
}

function toKey({ credentialId, model }: CircuitName): string {
  return `rideau:circuit:probe:${credentialId}:${model}`
}

/** Returns undefined for this process's own messages and for those of other programs, which may publish there. */
function parse(text: string, self: string): CircuitUpdate | undefined {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || value.from === self) return undefined
  const { orgId, credentialId, provider, model } = value
  if (!isName(orgId) || !isName(credentialId) || !isName(provider) || !isName(model)) return undefined
  const name = { orgId, credentialId, provider, model }
  const { change, restMs, updatedAt, retryInMs, openForMs, failureRate } = value
  if (change === 'close') return { ...name, change }
  if (change === 'rest' && isNumber(restMs) && isNumber(updatedAt))
    return { ...name, change, restMs, updatedAt }
  if (change !== 'open' || !isNumber(retryInMs) || !isNumber(openForMs) || !isNumber(failureRate))
    return undefined
  return { ...name, change, retryInMs, openForMs, failureRate }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME_CHARS
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
