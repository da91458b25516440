// Refuses object literals that are indexed by arbitrary strings (see client-types/find-lookups.mjs, which has access to
// the compiler's types). Prints each place and exits 1 if there is any.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { isMain, root } from './build.mjs'
import { findLookups, readOptions } from './client-types/find-lookups.mjs'

/** The modules of the product, without tests. */
function listFiles() {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', 'packages/*.ts']
  const names = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0')
  return names.filter(
    name =>
      /^packages\/(llm|server|sdk)\/.*\.ts$/.test(name) && !/\.test\.ts$|\/testing\/|\.d\.ts$/.test(name),
  )
}

function main() {
  const files = listFiles().map(name => path.join(root, name))
  const found = findLookups(files, readOptions(root))
  for (const entry of found)
    console.log(
      `${path.relative(root, entry)}: an arbitrary string indexes an object literal; use a Map or toTable()`,
    )
  process.exitCode = found.length === 0 ? 0 : 1
}

if (isMain(import.meta.filename)) main()
