import { closeSync, constants, openSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { waitFor } from './wait.ts'

const PATIENCE_MS = 120_000

/** BSD's open flag for a lock that the kernel frees with its holder; Node names no constant for it. */
const O_EXLOCK = 0x20

/**
 * One launcher at a time on a data folder. The kernel frees the lock with its holder, so there is no stale one:
 * on Linux an abstract socket named by the folder's inode, elsewhere a file lock.
 */
export async function holdFolderLock(dir: string): Promise<() => Promise<void>> {
  const take = process.platform === 'linux' ? bindAbstractSocket : lockFile
  const release = await waitFor(() => take(dir), PATIENCE_MS, 25)
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
