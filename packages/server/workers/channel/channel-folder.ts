import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const SOCKET_NAME = 'workers.sock'
/** A socket's path may have 103 bytes on macOS and 107 on Linux. */
const MAX_PATH_BYTES = 103

/** Why a file system, such as that of a shared folder, takes no socket. */
const NO_SOCKETS: ReadonlySet<string | undefined> = new Set([
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
  'EACCES',
  'EINVAL',
  'EIO',
])

/**
 * Calls `listen` with the path of the supervisor's socket in `folder` or, where that path is too long, others may enter the folder or its
 * file system takes no socket, in a folder of the same user within the temporary one. The socket of a killed supervisor is removed
 * before. The caller has made sure that no other supervisor uses `folder`. Throws where others may enter the second one too.
 */
export async function listenInFolder<T>(folder: string, listen: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(join(folder, SOCKET_NAME)) <= MAX_PATH_BYTES && openOwnFolder(folder)) {
    try {
      return await listen(prepareSocket(folder))
    } catch (error) {
      if (!NO_SOCKETS.has((error as NodeJS.ErrnoException).code)) throw error
    }
  }
  const temporary = toTemporaryFolder(folder)
  if (openOwnFolder(temporary)) return await listen(prepareSocket(temporary))
  throw new Error(
    `${temporary}, the folder of the workers' socket, must be a folder that only its owner may enter`,
  )
}

function toTemporaryFolder(folder: string): string {
  const id = createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 16)
  const name = `rideau-workers-${process.geteuid?.()}-${id}`
  const own = join(tmpdir(), name)
  return Buffer.byteLength(join(own, SOCKET_NAME)) <= MAX_PATH_BYTES ? own : join('/tmp', name)
}

/** Creates the folder if it does not exist. Returns whether only this user may enter it. */
function openOwnFolder(folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0
}

function prepareSocket(folder: string): string {
  const path = join(folder, SOCKET_NAME)
  rmSync(path, { force: true })
  return path
}
