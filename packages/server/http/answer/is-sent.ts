import type { ServerResponse } from 'node:http'

/**
 * Whether the kernel has all of an answer. `writableFinished` says the same up to Node 22; Node 24 sets it some ticks later, with
 * the event `finish`.
 */
export function isSent({
  writableEnded,
  writableLength,
}: Pick<ServerResponse, 'writableEnded' | 'writableLength'>): boolean {
  return writableEnded && writableLength === 0
}
