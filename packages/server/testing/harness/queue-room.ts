import type { QueueRoom } from '../../core/queue-room.ts'

/** Room for so many items of whatever organizations. */
export function roomFor(limit: number, change: Partial<QueueRoom> = {}): QueueRoom {
  return {
    limit,
    slowLimit: limit,
    slowShare: 0,
    slow: [],
    ofOrganization: limit,
    running: new Map(),
    ...change,
  }
}
