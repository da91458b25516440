// Checks that the committed OpenAPI document and its client's types are current, and that an independent tool accepts the
// document. Prints each breach; exits 1 on any.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { root } from './build.mjs'

const redocly = path.join(root, 'node_modules', '.bin', 'redocly')
const breaches = [
  run(process.execPath, ['tools/build-openapi.mjs', '--check']),
  run(redocly, ['lint', '--extends=spec', '--format=stylish', 'docs/openapi.json']),
].filter(output => output !== undefined)
for (const breach of breaches) console.log(breach)
process.exitCode = breaches.length === 0 ? 0 : 1

/** What a failed command printed. */
function run(command, args) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, env, encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? `${stdout}${stderr}`.trim())
}
