// npm run check: runs every static check concurrently and prints each one's time; a failure does not stop the others.
// `npm run check -- lint types` runs those alone.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { isMain, root } from './build.mjs'

// Called by path: npx misreads `npx --no tsc`, prints npm's version and exits with 0.
const bin = name => path.join(root, 'node_modules', '.bin', name)

const CHECKS = {
  format: [bin('biome'), ['format', '--colors=off', '.']],
  types: [bin('tsc'), ['-p', '.', '--pretty', 'false']],
  // With a browser's types only, and without Node's.
  dashboard: [bin('tsc'), ['-p', 'packages/dashboard', '--pretty', 'false']],
  sdk: [process.execPath, ['tools/check-sdk.mjs']],
  lint: [bin('oxlint'), ['--deny-warnings', '--report-unused-disable-directives-severity=error']],
  unused: [bin('knip'), ['--no-progress', '--treat-config-hints-as-errors']],
  project: [process.execPath, ['tools/check-project.mjs']],
  lookups: [process.execPath, ['tools/check-lookups.mjs']],
  openapi: [process.execPath, ['tools/check-openapi.mjs']],
}

/** Runs the named checks (all by default) concurrently and prints each as it ends. Resolves to true if all passed. */
export async function runChecks(names = Object.keys(CHECKS)) {
  const unknown = names.filter(name => !Object.hasOwn(CHECKS, name))
  if (unknown.length > 0)
    throw new Error(`no such check: ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}`)
  const passed = await Promise.all(names.map(runCheck))
  const failed = names.filter((_, index) => !passed[index])
  console.log(failed.length === 0 ? 'check: all passed' : `check: failed: ${failed.join(', ')}`)
  return failed.length === 0
}

async function runCheck(name) {
  const [command, args] = CHECKS[name]
  const startedAt = performance.now()
  const { code, output } = await capture(command, args)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  if (code !== 0) console.log(output.trimEnd())
  return code === 0
}

/** Returns both streams in the order of arrival; a command that cannot start is a failure with its reason. */
function capture(command, args) {
  const env = { ...process.env, NO_COLOR: '1' }
  return new Promise(resolve => {
    const chunks = []
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', chunk => chunks.push(chunk))
    child.stderr.on('data', chunk => chunks.push(chunk))
    child.once('error', error => resolve({ code: 1, output: error.message }))
    child.once('close', code => resolve({ code, output: Buffer.concat(chunks).toString() }))
  })
}

if (isMain(import.meta.filename)) {
  const names = process.argv.slice(2)
  process.exitCode = (await runChecks(names.length > 0 ? names : undefined)) ? 0 : 1
}
