import { closeSync, constants, openSync } from 'node:fs'

/**
 * Returns what tells whether a SIGHUP was sent on purpose: it returns false if the terminal that the process had at its
 * start has gone, which the system signals in the same way.
 */
export function openHangupCheck(canOpen: () => boolean = canOpenTerminal): () => boolean {
  const hadTerminal = canOpen()
  return () => !hadTerminal || canOpen()
}

function canOpenTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY))
    return true
  } catch {
    return false
  }
}
