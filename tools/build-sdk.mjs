// Builds the client library: one JavaScript module and its types for each source, into packages/sdk/dist or the folder given.
// The sources' imports are relative, so the result needs no bundler and no package.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { root } from './build.mjs'

/** Throws with the compiler's messages where a source does not compile. */
function buildSdk(outDir = path.join(root, 'packages/sdk/dist')) {
  fs.rmSync(outDir, { recursive: true, force: true })
  const tsc = path.join(root, 'node_modules', '.bin', 'tsc')
  const args = ['-p', 'packages/sdk', '--outDir', outDir, '--pretty', 'false']
  const { status, stdout, stderr, error } = spawnSync(tsc, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(error?.message ?? `${stdout}${stderr}`)
  for (const name of fs.readdirSync(outDir, { recursive: true })) {
    if (name.endsWith('.d.ts')) nameModules(path.join(outDir, name))
  }
}

/** The compiler leaves the sources' names in declarations; older versions of it cannot follow those. */
function nameModules(file) {
  const text = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, text.replaceAll(/(\bfrom '\.[^']*)\.ts'/g, "$1.js'"))
}

buildSdk(...process.argv.slice(2, 3).map(folder => path.resolve(folder)))
