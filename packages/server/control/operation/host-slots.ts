import { Fault } from '../../core/fault.ts'
import { FairSlots } from '../../http/fairness/fair-slots.ts'

/** Calls of tenants' hosts at once, for callers of the control plane. Each answer may be a MiB that takes seconds to arrive. */
const BOUNDS = { total: 96, perTenant: 32, perCaller: 32, divisor: 2, waitingPerTenant: 100 }
const WAIT_MS = 10_000

/** Shares the calls that the control plane makes to providers and identity providers fairly between organizations. */
export class HostSlots {
  readonly #slots = new FairSlots(BOUNDS)

  /** Runs the call. Throws `control_rate_limit_exceeded` where too many of the organization do not end in time. */
  async run<Result>(orgId: string, call: () => Promise<Result>): Promise<Result> {
    const caller = `caller in ${orgId}`
    if (!(await this.#slots.acquire(orgId, caller, WAIT_MS))) {
      const message =
        'This organization waits for too many answers of its providers at once. Try again in 10 s.'
      throw new Fault('control_rate_limit_exceeded', message, { retryAfterSeconds: WAIT_MS / 1000 })
    }
    try {
      return await call()
    } finally {
      this.#slots.release(orgId, caller)
    }
  }
}
