// Bundles packages/server/main.ts into one file under dist/, in about 0.1 s, when a source changed.
import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** Returns true if the file is the program that was started, and not a module of another. */
export function isMain(file) {
  return process.argv[1] !== undefined && fs.realpathSync(process.argv[1]) === file
}

/** Older bundles kept: a start that found one fresh a moment ago may still be about to load it. */
const KEPT_BUNDLES = 4

/** Builds of this process that run now. They share one compiler. */
let running = 0

/**
 * Returns the bundle's path; builds the bundle first if there is none of these sources.
 * The name carries the sources' hash and the file appears by rename, so starts at the same time share or race
 * harmlessly. Throws a BuildError with esbuild's message if a source does not compile.
 */
export async function buildServer(from = root) {
  const dist = path.join(from, 'dist')
  const bundle = path.join(dist, `rideau-${hashSources(from)}.mjs`)
  if (fs.existsSync(bundle)) return bundle
  const { build, stop } = await import('esbuild')
  const fresh = path.join(dist, `.new-${randomUUID()}.mjs`)
  running++
  try {
    fs.mkdirSync(dist, { recursive: true })
    const { outputFiles } = await build({
      entryPoints: [path.join(from, 'packages/server/main.ts')],
      outfile: bundle,
      write: false,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      // Dependencies stay in node_modules; the repository's own packages are TypeScript and must be bundled.
      packages: 'external',
      alias: {
        '@rideau/llm': path.join(from, 'packages/llm'),
        '@rideau/server': path.join(from, 'packages/server'),
      },
      // Redis scripts are imported as text.
      loader: { '.lua': 'text' },
      // A file of its own, which Node reads with --enable-source-maps only: a decoded map takes 35 MB of heap,
      // which every full collection walks.
      sourcemap: 'linked',
      sourcesContent: false,
      logLevel: 'silent',
    })
    // The bundle last: its presence says that both are complete.
    for (const { path: file, contents } of outputFiles.sort((a, b) => b.path.length - a.path.length)) {
      fs.writeFileSync(fresh, contents)
      fs.renameSync(fresh, file)
    }
  } catch (cause) {
    throw Object.assign(new Error(cause.message, { cause }), { name: 'BuildError' })
  } finally {
    fs.rmSync(fresh, { force: true })
    // The compiler is a process of its own, which would stay for as long as the server runs.
    if (--running === 0) await stop()
  }
  removeOldBundles(dist, bundle)
  return bundle
}

/** SHA-256 over names and contents of all files that can reach the bundle, without tests. */
export function hashSources(from = root) {
  const hash = createHash('sha256')
  for (const file of [...listSources(from)].sort()) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(from, file)))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}

function* listSources(from) {
  // A change of this file, of the lockfile or of the document of the API changes the bundle too.
  yield* ['package-lock.json', 'tools/build.mjs', 'docs/openapi.json'].filter(file =>
    fs.existsSync(path.join(from, file)),
  )
  for (const top of ['packages/llm', 'packages/server', 'catalog']) yield* walk(from, top)
}

function* walk(from, folder) {
  for (const entry of fs.readdirSync(path.join(from, folder), { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) {
      if (!/^(node_modules|testing|fixtures)$/.test(entry.name)) yield* walk(from, name)
    } else if (/\.(ts|json|lua)$/.test(entry.name) && !entry.name.endsWith('.test.ts')) {
      yield name
    }
  }
}

function removeOldBundles(dist, current) {
  const others = fs
    .readdirSync(dist)
    .filter(name => /^rideau-.*\.mjs$/.test(name) && path.join(dist, name) !== current)
    .map(name => path.join(dist, name))
    // Another start may have removed it since.
    .map(file => ({ file, madeAt: fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.madeAt - a.madeAt)
  for (const { file } of others.slice(KEPT_BUNDLES)) {
    fs.rmSync(file, { force: true })
    fs.rmSync(`${file}.map`, { force: true })
  }
}
