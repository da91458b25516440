import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

/** One file in the encodings that the build made. */
export interface DashboardFile {
  readonly type: string
  /** The digest of the content, without the quotes of the header. */
  readonly digest: string
  readonly plain: Buffer
  /** undefined: compressing it does not pay. */
  readonly brotli: Buffer | undefined
  readonly gzip: Buffer | undefined
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
])

/**
 * Reads the built dashboard into memory, about 1 MB: `/index.html`, `/assets/main-1a2b.js` and so on to their contents. The routes are
 * made from these names, so no request can name another file. Throws if the folder holds a kind of file without a type.
 */
export function loadFiles(dir: string): ReadonlyMap<string, DashboardFile> {
  const files = new Map<string, DashboardFile>()
  for (const name of fs.readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(dir, name)
    const extension = path.extname(name)
    if (extension === '.br' || extension === '.gz' || !fs.statSync(file).isFile()) continue
    const type = TYPES.get(extension)
    if (type === undefined) throw new Error(`the dashboard has a file of an unknown type: ${name}`)
    const plain = fs.readFileSync(file)
    files.set(`/${name.split(path.sep).join('/')}`, {
      type,
      digest: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
      plain,
      brotli: readIfExists(`${file}.br`),
      gzip: readIfExists(`${file}.gz`),
    })
  }
  return files
}

function readIfExists(file: string): Buffer | undefined {
  return fs.existsSync(file) ? fs.readFileSync(file) : undefined
}
