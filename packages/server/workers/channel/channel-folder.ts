import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const SOCKET_NAME = 'workers.sock'
/** A socket's path may have 103 bytes on macOS and 107 on Linux. */
const MAX_PATH_BYTES = 103

/**
 * Returns the path of the supervisor's socket in a folder that only its owner may enter, without the socket of a killed
 * supervisor. The caller has made sure that no other supervisor uses the folder. Throws where others may enter it.
 */
export function prepareChannelFolder(folder: string): string {
  const path = join(folder, SOCKET_NAME)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new Error(`the path of the workers' socket must have at most ${MAX_PATH_BYTES} bytes; got ${path}`)
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${folder}, the folder of the workers' socket, must be a folder that only its owner may enter`,
    )
  }
  rmSync(path, { force: true })
  return path
}
