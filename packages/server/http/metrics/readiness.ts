/** Whether a process can serve, and what limits it. A ready process may have reasons too. */
export interface Readiness {
  readonly ready: boolean
  readonly reasons: readonly string[]
}

/** The answer of `GET /readyz` on both planes. */
export function toReadinessAnswer({ ready, reasons }: Readiness): { status: 200 | 503; body: object } {
  return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'not_ready', reasons } }
}
