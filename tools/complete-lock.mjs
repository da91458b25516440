// Completes package-lock.json after `npm install`. Some registries do not serve every platform's optional packages;
// npm then leaves those out of the lockfile, and `npm ci` refuses it on every machine ("Missing: ... from lock
// file"). This adds an entry for each, with the platform in its name. Run from the repository's root:
//   npm install && node tools/complete-lock.mjs && npm ci
import fs from 'node:fs'
import path from 'node:path'
import { isMain, root } from './build.mjs'

const SYSTEMS = [
  'linux',
  'darwin',
  'win32',
  'android',
  'freebsd',
  'netbsd',
  'openbsd',
  'sunos',
  'aix',
  'openharmony',
]
const PROCESSORS = ['arm64', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'arm']

/** The platform in a package's name (`@esbuild/linux-arm64`), as lockfile fields; undefined if it names none. */
export function platformOf(name) {
  const words = name.replaceAll('windows', 'win32').split(/[^a-z0-9]+/)
  if (words.includes('wasm32')) return { cpu: ['wasm32'] }
  const os = SYSTEMS.find(system => words.includes(system))
  if (os === undefined) return undefined
  const cpu = PROCESSORS.find(processor => words.includes(processor))
  const libc = words.some(word => word.startsWith('musl'))
    ? 'musl'
    : words.some(word => word.startsWith('gnu'))
      ? 'glibc'
      : undefined
  return {
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(libc === undefined || os !== 'linux' ? {} : { libc: [libc] }),
    os: [os],
  }
}

/** Returns true if a package is locked where `from` would find it: in a node_modules beside it or above. */
function isLocked(packages, from, name) {
  const folders = from.split('/').map((_, index, parts) => `${parts.slice(0, index + 1).join('/')}/`)
  return ['', ...folders].some(folder => packages[`${folder}node_modules/${name}`] !== undefined)
}

/** The lockfile with every optional package of every platform in it, and the names that were added. */
export function completeLock(lock) {
  const added = {}
  for (const [from, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const platform = platformOf(name)
      if (entry.link || platform === undefined || isLocked({ ...lock.packages, ...added }, from, name))
        continue
      const dev = entry.dev ? { dev: true } : {}
      added[`node_modules/${name}`] = {
        version: range.replace(/^[\^~]/, ''),
        ...dev,
        optional: true,
        ...platform,
      }
    }
  }
  const entries = Object.entries({ ...lock.packages, ...added }).sort(([a], [b]) => (a < b ? -1 : 1))
  return { lock: { ...lock, packages: Object.fromEntries(entries) }, added: Object.keys(added) }
}

if (isMain(import.meta.filename)) {
  const file = path.join(root, 'package-lock.json')
  const { lock, added } = completeLock(JSON.parse(fs.readFileSync(file, 'utf8')))
  if (added.length > 0) fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`package-lock.json: ${added.length} entries added`)
}
