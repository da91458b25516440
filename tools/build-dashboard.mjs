// Builds packages/dashboard into a folder under dist/ when a source changed, in about 3 s, with a compressed copy of each file.
import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { isMain, root } from './build.mjs'

const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)

/** Smaller files gain nothing. */
const MIN_COMPRESSED_BYTES = 512
/** Older builds kept: a start that found one fresh a moment ago may still be about to read it. */
const KEPT_BUILDS = 2

/**
 * Returns the folder's path; builds first if there is none of these sources. The folder appears by rename, so starts at the same time
 * share it or race harmlessly. Throws a BuildError if a source does not compile.
 */
export async function buildDashboard(from = root) {
  const dist = path.join(from, 'dist')
  const folder = path.join(dist, `dashboard-${hashSources(from)}`)
  if (fs.existsSync(folder)) return folder
  const fresh = path.join(dist, `.new-dashboard-${randomUUID()}`)
  const { build } = await import('vite')
  const { NODE_ENV } = process.env
  try {
    await build({
      ...settings(from),
      logLevel: 'silent',
      // Whatever the environment says: a test's build is the one that is shipped.
      define: { 'process.env.NODE_ENV': '"production"' },
      oxc: { jsx: { runtime: 'automatic', development: false } },
      build: {
        outDir: fresh,
        emptyOutDir: true,
        target: 'es2022',
        // Inline data would need exceptions in the content security policy.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        reportCompressedSize: false,
      },
    })
    await compressFiles(fresh)
    moveUnlessThere(fresh, folder)
  } catch (cause) {
    throw Object.assign(new Error(cause.message, { cause }), { name: 'BuildError' })
  } finally {
    // Vite sets it to production for its whole process. The gateway's workers, which this process starts, would refuse private addresses.
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
    fs.rmSync(fresh, { recursive: true, force: true })
  }
  removeOldBuilds(dist, folder)
  return folder
}

/** What the build and the development server share. No file of settings, so that the tools' own environment cannot add one. */
export function settings(from = root) {
  return {
    configFile: false,
    envFile: false,
    root: path.join(from, 'packages/dashboard'),
    cacheDir: path.join(from, '.cache/vite'),
    publicDir: false,
    oxc: { jsx: { runtime: 'automatic' } },
  }
}

async function compressFiles(folder) {
  const names = fs.readdirSync(folder, { recursive: true }).map(name => path.join(folder, name))
  const large = names.filter(
    name => fs.statSync(name).isFile() && fs.statSync(name).size >= MIN_COMPRESSED_BYTES,
  )
  await Promise.all(
    large.map(async name => {
      const bytes = fs.readFileSync(name)
      const params = { [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      fs.writeFileSync(`${name}.br`, await brotli(bytes, { params }))
      fs.writeFileSync(`${name}.gz`, await gzip(bytes, { level: 9 }))
    }),
  )
}

/** Another start may have built the same meanwhile. */
function moveUnlessThere(fresh, folder) {
  try {
    fs.renameSync(fresh, folder)
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  }
}

/** SHA-256 over names and contents of everything that can reach the pages, without tests. */
function hashSources(from) {
  const hash = createHash('sha256')
  const files = ['package-lock.json', 'tools/build-dashboard.mjs']
  for (const folder of ['packages/dashboard', 'packages/sdk']) files.push(...walk(from, folder))
  for (const file of files.sort()) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(from, file)))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}

function* walk(from, folder) {
  for (const entry of fs.readdirSync(path.join(from, folder), { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) {
      if (!/^(node_modules|testing|served|dist)$/.test(entry.name)) yield* walk(from, name)
    } else if (/\.(tsx?|css|html|svg|json)$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name)) {
      yield name
    }
  }
}

function removeOldBuilds(dist, current) {
  const others = fs
    .readdirSync(dist)
    .filter(name => name.startsWith('dashboard-') && path.join(dist, name) !== current)
    .map(name => path.join(dist, name))
    .map(folder => ({ folder, madeAt: fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.madeAt - a.madeAt)
  for (const { folder } of others.slice(KEPT_BUILDS)) fs.rmSync(folder, { recursive: true, force: true })
}

if (isMain(import.meta.filename)) console.log(await buildDashboard())
