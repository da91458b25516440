#!/usr/bin/env node
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildServer, root } from '../tools/build.mjs'
import { buildDashboard } from '../tools/build-dashboard.mjs'

const HELP = `Usage: rideau <command>

  start      run the gateway, with a worker for each core, and the control plane
  gateway    run the gateway (the data plane) alone, with a worker for each core
  control    run the control plane alone
  demo       run both with made-up data of 90 days (--rows N)

  rotate-master-key  encrypt what is stored with a new master key, while the program runs

  --help     print this
  --version  print the version

Settings are environment variables: see docs/operations.md.`

const COMMANDS = new Set(['start', 'gateway', 'control', 'demo', 'rotate-master-key'])

async function main([command, ...rest]) {
  if (command === '--help' || command === '-h') return console.log(HELP)
  if (command === '--version' || command === '-v') return console.log(readVersion())
  if (!COMMANDS.has(command) || (rest.length > 0 && command !== 'demo')) {
    console.error(
      command === undefined ? HELP : `rideau: unknown arguments: ${[command, ...rest].join(' ')}\n\n${HELP}`,
    )
    process.exitCode = 2
    return
  }
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
