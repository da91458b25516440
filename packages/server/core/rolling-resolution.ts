/** With more entries than this, a rolling counter merges entries: a limit of a million a month must not keep a million times. */
export const MAX_ROLLING_ENTRIES = 20_000

/**
 * Returns the length of the slots within which entries are merged, in whole milliseconds: by default a twenty-thousandth of the window.
 * No entry counts from an earlier time than its own, so the limit holds in every span; a wait is at most one slot too long.
 */
export function rollingSlotMs(windowMs: number, slots: number = MAX_ROLLING_ENTRIES): number {
  return Math.max(1, Math.ceil(windowMs / slots))
}
