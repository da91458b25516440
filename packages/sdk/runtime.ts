/** The time and chance that the library depends on. Tests pass their own. */
export interface Runtime {
  /** Milliseconds since an arbitrary moment. Never decreases. */
  now(): number
  /** From 0 (included) to 1 (excluded). */
  random(): number
  /** Resolves after `ms`. Rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
}

/**
 * Returns a clock of elapsed milliseconds that a change of the device's time cannot turn back. Some platforms stop the
 * monotonic clock while the device sleeps, so of both clocks the one that moved further counts: a token is then renewed
 * too early at worst, never too late.
 */
export function createElapsedClock(monotonic: () => number, calendar: () => number): () => number {
  let elapsed = 0
  let lastMonotonic = monotonic()
  let lastCalendar = calendar()
  return () => {
    const nextMonotonic = monotonic()
    const nextCalendar = calendar()
    elapsed += Math.max(0, nextMonotonic - lastMonotonic, nextCalendar - lastCalendar)
    lastMonotonic = nextMonotonic
    lastCalendar = nextCalendar
    return elapsed
  }
}

export function createSystemRuntime(): Runtime {
  return {
    now: createElapsedClock(
      () => performance.now(),
      () => Date.now(),
    ),
    random: () => Math.random(),
    sleep: (ms, signal) => {
      const waited = new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        }, ms)
        const onAbort = (): void => {
          clearTimeout(timer)
          reject(toAbortReason(signal as AbortSignal))
        }
        if (signal?.aborted === true) onAbort()
        else signal?.addEventListener('abort', onAbort, { once: true })
      })
      return waited
    },
  }
}

/** Returns why a signal aborted. React Native's signals have no reason. */
export function toAbortReason(signal: AbortSignal): unknown {
  if (signal.reason !== undefined) return signal.reason
  const error = new Error('The call was aborted.')
  error.name = 'AbortError'
  return error
}

/** Resolves as `promise` does, or rejects with the signal's reason once it aborts. `promise` goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  if (signal.aborted) throw toAbortReason(signal)
  let onAbort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(toAbortReason(signal))
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort as () => void)
  }
}

interface SomeCrypto {
  randomUUID?(): string
  getRandomValues?(bytes: Uint8Array): unknown
}

/** Returns a random UUID. A page without TLS and React Native lack `crypto.randomUUID`. */
export function createUuid(random: () => number): string {
  const crypto = (globalThis as { crypto?: SomeCrypto }).crypto
  if (typeof crypto?.randomUUID === 'function') return crypto.randomUUID()
  const bytes = new Uint8Array(16)
  if (typeof crypto?.getRandomValues === 'function') crypto.getRandomValues(bytes)
  // Keys of calls must differ from each other; they need not be secret.
  else bytes.forEach((_, index) => (bytes[index] = Math.floor(random() * 256)))
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
