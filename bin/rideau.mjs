#!/usr/bin/env node
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

const HELP = `Usage: rideau <command>

  start      run the gateway, with a worker for each core, and the control plane
  gateway    run the gateway (the data plane) alone, with a worker for each core
  control    run the control plane alone
  demo       run both with made-up data of 90 days (--rows N)

  rotate-master-key    encrypt what is stored with a new master key, while the program runs
  rotate-signing-keys  replace the keys that sign client tokens, while the program runs: all live tokens end

  help, --help         print this
  version, --version   print the version

Settings are environment variables: see docs/operations.md.`

const COMMANDS = new Set(['start', 'gateway', 'control', 'demo', 'rotate-master-key', 'rotate-signing-keys'])

const HELP_WORDS = new Set(['help', '--help', '-h'])
const VERSION_WORDS = new Set(['version', '--version', '-v'])

async function main([command, ...rest]) {
  const asksForHelp = rest.some(argument => argument === '--help' || argument === '-h')
  if (HELP_WORDS.has(command) || asksForHelp) return console.log(HELP)
  if (VERSION_WORDS.has(command)) return console.log(readVersion())
  if (!COMMANDS.has(command) || (rest.length > 0 && command !== 'demo')) {
    console.error(
      command === undefined ? HELP : `rideau: unknown arguments: ${[command, ...rest].join(' ')}\n\n${HELP}`,
    )
    process.exitCode = 2
    return
  }
  // Newer modules are imported from here on: an older Node could not even parse them.
  const { explainOldNode, isSupportedNode } = await import('../tools/node-version.mjs')
  if (!isSupportedNode(process.versions.node)) {
    console.error(`rideau: ${explainOldNode(process.versions.node)}`)
    process.exitCode = 1
    return
  }
  const [{ buildServer }, { buildDashboard }] = await Promise.all([
    import('../tools/build.mjs'),
    import('../tools/build-dashboard.mjs'),
  ])
  const env = { ...process.env }
  const [server, dashboard] = await Promise.all([
    buildServer(),
    servesDashboard(command, env) && buildDashboard(),
  ])
  if (dashboard) env.RIDEAU_DASHBOARD_DIR = dashboard
  const { run } = await import(pathToFileURL(server).href)
  await run(command, env, rest)
}

/** Whether the process serves the dashboard of this tree: not another build, and not none. */
function servesDashboard(command, { RIDEAU_DASHBOARD_DIR: given = '' }) {
  return ['start', 'control', 'demo'].includes(command) && given === ''
}

function readVersion() {
  return JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version
}

main(process.argv.slice(2)).catch(error => {
  // A wrong setting or a source that does not compile: the message is enough. Any other error needs its stack.
  const isPlain = error.name === 'ConfigError' || error.name === 'BuildError'
  console.error(isPlain ? `rideau: ${error.message}` : error)
  process.exit(1)
})
