import { closeSync, constants, openSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { waitFor } from './wait-for.ts'

/** A first start creates the cluster, which a slow disk takes a while for. */
const WAIT_MS = 120_000

/** BSD's open() flag for an exclusive lock, which the kernel releases with its process. Node has no constant for it. */
const O_EXLOCK = 0x20

/**
 * Acquires the right to start or stop the server of a data folder, and returns the function that releases it. The kernel
 * releases the lock when its process ends, so no stale lock remains. On Linux it is an abstract socket named after the
 * folder's inode, elsewhere a file lock. Rejects after two minutes.
 */
export async function acquireFolderLock(dir: string): Promise<() => Promise<void>> {
  const tryAcquire = process.platform === 'linux' ? bindAbstractSocket : lockFile
  const release = await waitFor(() => tryAcquire(dir), WAIT_MS, 25)
  if (release === undefined) throw new Error(`another process is starting or stopping the database in ${dir}`)
  return release
}

function bindAbstractSocket(dir: string): Promise<(() => Promise<void>) | undefined> {
  const { dev, ino } = statSync(dir)
  const server = createServer(socket => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen({ path: `\0rideau-postgres-${dev}-${ino}` }, () => {
      resolve(() => new Promise(done => server.close(() => done())))
    })
  })
}

async function lockFile(dir: string): Promise<(() => Promise<void>) | undefined> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK
  let fd: number
  try {
    fd = openSync(join(dir, 'postgres.lock'), flags, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
  return async () => closeSync(fd)
}
