import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { root } from '../build.mjs'

export const server = file => `packages/server/${file}`

/** Code that imports these modules and uses them. */
export const importing = (...names) =>
  names.map((name, index) => `import * as m${index} from '${name}'\nconsole.log(m${index})`).join('\n')

/** Code that passes these modules on, which breaks no other rule. */
export const pure = (...names) =>
  names.map((name, index) => `export * as m${index} from '${name}'`).join('\n')

/** Code that imports a type. */
export const typing = name => `import type { A } from '${name}'\nexport type B = A`

/**
 * Lints files, each as `[path, text]`, with the real settings and returns the rules that each path breaks, a `Map` of sets. All
 * files are written into an empty copy of the tree and linted in one run.
 */
export function lintFiles(files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-rules-'))
  try {
    fs.copyFileSync(path.join(root, '.oxlintrc.json'), path.join(folder, '.oxlintrc.json'))
    for (const [file, text] of files) {
      fs.mkdirSync(path.join(folder, path.dirname(file)), { recursive: true })
      fs.writeFileSync(path.join(folder, file), `${text}\n`)
    }
    const oxlint = path.join(root, 'node_modules', '.bin', 'oxlint')
    const run = spawnSync(oxlint, ['--format=json'], { cwd: folder, encoding: 'utf8', maxBuffer: 64 << 20 })
    const broken = new Map()
    for (const { code, filename } of JSON.parse(run.stdout).diagnostics) {
      const rules = broken.get(filename) ?? new Set()
      broken.set(filename, rules.add(/\((.*)\)/.exec(code)?.[1]))
    }
    return broken
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
