// Refuses look-ups in the product's object literals by names that are known only at run time. client-types/find-lookups.mjs
// finds them with a compiler that knows the names' types. Prints each; exits 1 on any.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { isMain, root } from './build.mjs'
import { findLookups, readOptions } from './client-types/find-lookups.mjs'

/** The product's own modules. */
function listFiles() {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', 'packages/*.ts']
  const names = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0')
  return names.filter(
    name => /^packages\/(llm|server)\/.*\.ts$/.test(name) && !/\.test\.ts$|\/testing\/|\.d\.ts$/.test(name),
  )
}

function main() {
  const files = listFiles().map(name => path.join(root, name))
  const found = findLookups(files, readOptions(root))
  for (const each of found) console.log(`${path.relative(root, each)}: look it up in a Map or in toTable(…)`)
  process.exitCode = found.length === 0 ? 0 : 1
}

if (isMain(import.meta.filename)) main()
