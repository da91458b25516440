import type { ServerResponse } from 'node:http'

/**
 * Whether the kernel has all of an answer. Node 20's `writableFinished` says the same; newer versions set it some ticks later, with
 * the event `finish`.
 */
export function isSent({
  writableEnded,
  writableLength,
}: Pick<ServerResponse, 'writableEnded' | 'writableLength'>): boolean {
  return writableEnded && writableLength === 0
}
