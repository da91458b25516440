// npm run test:nodes: the whole suite on other versions of Node than the one that runs it, one after the other. Their programs come from
// npm's packages and are kept in .cache.
//   npm run test:nodes -- [--versions 22,24] [PATH...]
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { isMain, root } from './build.mjs'

/** The newest of each line when this was last looked at. */
const NODES = { 22: '22.23.3', 24: '24.21.0' }

/** Returns the folder of the program `node`, which npm installs if it is not there. Throws where npm has none for this platform. */
export function installNode(major, cache) {
  const version = NODES[major]
  if (version === undefined)
    throw new Error(`no Node ${major} here: there is ${Object.keys(NODES).join(', ')}`)
  const name = `node-${process.platform}-${process.arch}`
  const home = path.join(cache, `${name}-${version}`)
  const folder = path.join(home, 'node_modules', name, 'bin')
  if (!fs.existsSync(path.join(folder, 'node'))) {
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    fs.mkdirSync(home, { recursive: true })
    execFileSync('npm', ['install', ...flags, '--prefix', home, `${name}@${version}`], { stdio: 'inherit' })
  }
  return folder
}

function run(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio: 'inherit' })
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 1))
  })
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { versions: { type: 'string', default: Object.keys(NODES).join(',') } },
    allowPositionals: true,
  })
  for (const major of values.versions.split(',')) {
    const folder = installNode(major, path.join(root, '.cache', 'nodes'))
    const node = path.join(folder, 'node')
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
    console.log(`\n${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`)
    const code =
      (await run(node, ['tools/install.mjs'], env)) ||
      (await run(node, ['tools/test.mjs', ...positionals], env))
    if (code !== 0) process.exitCode = code
  }
}

if (isMain(import.meta.filename)) await main()
