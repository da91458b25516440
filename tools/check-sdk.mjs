// Checks the client library: it compiles with a browser's types alone, and its generated files are current. Prints each
// breach; exits 1 on any.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { root } from './build.mjs'

const tsc = path.join(root, 'node_modules', '.bin', 'tsc')
const COMMANDS = [
  [tsc, ['-p', 'packages/sdk', '--noEmit', '--pretty', 'false']],
  [process.execPath, ['tools/build-sdk-sources.mjs', '--check']],
]
for (const [command, args] of COMMANDS) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status === 0) continue
  console.log(error?.message ?? `${stdout}${stderr}`.trim())
  process.exitCode = 1
}
