/**
 * One subject that the supervisor and a worker talk about: a numbered kind of frame. Many topics share a connection, and
 * what they send within one tick of the event loop is one write.
 */
export interface Topic {
  /** Called when the connection is open in both directions, before it carries a frame of this topic. */
  opened?(): void
  /** Called with the payload of a frame, which is only valid during the call. What it throws ends this connection. */
  receive(payload: Buffer): void
  /** Returns the frame to send now, with HEADER_BYTES free at its start; undefined: there is nothing to send. */
  take(): Buffer | undefined
  /** Called once the connection has ended. What was sent may or may not have arrived. */
  closed(reason: string): void
}

/** The numbers of the topics. A number never gets another meaning while the protocol's version stays the same. */
export const CONTROL_TOPIC = 0
export const CALLS_TOPIC = 1
export const LEDGER_TOPIC = 2
