import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Flushes a folder to disk, so that files created or renamed in it survive a power failure. */
export function syncFolder(dir: string): void {
  const fd = openSync(dir, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
