import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Returns the path of the first of these programs that this machine has on its PATH. */
export function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const paths = names.flatMap(name => folders.map(folder => join(folder, name)))
  return paths.find(path => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
