// The project's rules that no linter knows: folder names, circles of imports, imports that avoid the import rules, words
// that were replaced, headers, generated files, the lockfile's hosts and hashes, the catalogue's size. Prints each breach; exits 1 on any.
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { findBannedWords, isChecked } from './banned-words.mjs'
import { isMain, root } from './build.mjs'
import { findImportCircles, readImports } from './import-graph.mjs'

const FORBIDDEN_FOLDERS = new Set(['utils', 'util', 'types', 'common', 'helpers', 'misc'])
const CODE = /\.(ts|tsx|mjs|js|c|h)$/
const UNFINISHED = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME'].join('|')})\\b`)
/** A start reads the whole catalogue; a larger one means that a price list was pasted in. */
const MAX_CATALOG_BYTES = 2_000_000
const MAX_FILE_BYTES = 1_000_000
/** Loads each page of the dashboard when it is opened. */
const LOADS_PAGES = 'packages/dashboard/router.tsx'
/** Loads OpenTelemetry's packages, and nothing else, where traces are on. */
const LOADS_TRACING = 'packages/server/tracing/load-sdk.ts'
/** The files that pass headers to Node, with checked values. */
const WRITES_HEADERS = new Set([
  'packages/server/http/answer/write-head.ts',
  'packages/server/http/answer/checked-response.ts',
])

/** SQL that is put together from texts instead of bound parameters. */
const JOINED_SQL = /\bsql\.(raw|lit)(<[^(]*>)?\(|\.query(<[^(]*>)?\(\s*(\{[^}]*\btext:\s*)?`[^`]*\$\{/
/** The same where a statement is made for later. */
const JOINED_STATEMENT = /\btext:\s*`\s*(select|insert|update|delete|merge|with)\s[^`]*\$\{/i
/** The files that join constants of the code into SQL. None joins a text from outside. */
const JOINS_SQL = new Set(
  [
    'demo/fill-demo',
    'storage/changes/notification-listener',
    'storage/discovered-models',
    'storage/end-users/devices',
    'storage/idempotency/idempotent-answers',
    'storage/idempotency/expire-answers',
    'storage/instance-lock',
    'storage/migrate',
    'storage/models/environment-models',
    'storage/policies/environment-policies',
    'storage/pool',
    'storage/records/request-log-filter',
    'storage/records/request-log-list',
    'storage/snapshots/snapshots',
    'storage/snapshots/token-snapshots',
    'storage/usage/refusals',
    'storage/usage/usage-seeds',
    'storage/usage/usage-totals',
  ].map(name => `packages/server/${name}.ts`),
)

/** What git would commit: tracked files and new ones that are not ignored. */
function listFiles() {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const names = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0')
  return names.filter(name => name !== '' && fs.existsSync(path.join(root, name)))
}

const read = file => fs.readFileSync(path.join(root, file), 'utf8')
const isTest = file => /\.test\.(ts|mjs)$/.test(file) || file.includes('/testing/')

/** A folder must be named after its content; a folder for everything grows for ever. */
export function findFolderBreaches(files) {
  const folders = new Set(files.map(file => path.dirname(file)))
  return [...folders]
    .filter(folder => folder.split('/').some(part => FORBIDDEN_FOLDERS.has(part)))
    .map(folder => `${folder}: a folder must be named after its content`)
}

/** Imports that avoid the import rules, unchecked headers, marks of unfinished work and settings of tests with other names, by line. */
export function findLineBreaches(file, text) {
  const rules = [{ pattern: UNFINISHED, message: 'finish it or open an issue' }]
  if (isTest(file)) {
    rules.push({
      pattern: /\bprocess\.env\.RIDEAU_(?!TEST_)/,
      message: 'begin its name with RIDEAU_TEST_: a program under test warns of others that are no settings',
    })
  }
  if (file.startsWith('packages/') && !isTest(file)) {
    if (file !== LOADS_PAGES) {
      rules.push({
        pattern: file === LOADS_TRACING ? /\bimport\s*\((?!'@opentelemetry\/)/ : /\bimport\s*\(/,
        message: 'the import rules check static imports only: import at the top',
      })
    }
    rules.push({
      pattern: /\bprocess\.(binding|getBuiltinModule)\b/,
      message: 'import built-in modules at the top',
    })
    if (!WRITES_HEADERS.has(file)) {
      rules.push({
        pattern:
          /\.(writeHead|setHeader|appendHeader|setHeaders|addTrailers|writeEarlyHints|writeInformation)\b/,
        message: 'Node throws if a header cannot hold the text: use http/answer/write-head.ts',
      })
    }
    if (!file.startsWith('packages/server/storage/embedded/')) {
      rules.push({ pattern: /\bcreateRequire\b/, message: 'the import rules check static imports only' })
    }
  }
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(({ message }) => `${file}:${index + 1}: ${message}`),
    )
}

/** SQL of other files than those that are known to join constants only. */
export function findSqlBreaches(file, text) {
  if (!file.startsWith('packages/server/') || isTest(file) || JOINS_SQL.has(file)) return []
  if (!JOINED_SQL.test(text) && !JOINED_STATEMENT.test(text)) return []
  return [`${file}: bind the values of SQL as parameters`]
}

/** An address in the lockfile would pin every later install to one mirror. */
export function findLockfileBreaches(text, file = 'package-lock.json') {
  const entries = Object.entries(JSON.parse(text).packages)
  const named = entries
    .filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''))
    .map(([name]) => `${file}: ${name} names a registry: see CONTRIBUTING.md, "Dependencies"`)
  // Without an integrity hash, npm installs whatever a registry or mirror sends under that name.
  const unchecked = entries
    .filter(([name, entry]) => name.includes('node_modules/') && !entry.link && entry.integrity === undefined)
    .map(([name]) => `${file}: ${name} has no integrity hash: pin a version that the registry serves`)
  return [...named, ...unchecked]
}

function findSizeBreaches(files) {
  const size = file => fs.statSync(path.join(root, file)).size
  const large = files
    .filter(file => size(file) > MAX_FILE_BYTES)
    .map(file => `${file}: over ${MAX_FILE_BYTES} bytes`)
  const catalog = files.filter(file => file.startsWith('catalog/')).reduce((sum, file) => sum + size(file), 0)
  return catalog > MAX_CATALOG_BYTES
    ? [...large, `catalog/: ${catalog} bytes, over ${MAX_CATALOG_BYTES}`]
    : large
}

/** Generated documents must be current. */
function findStaleDocuments() {
  const tool = path.join(root, 'tools/build-error-docs.mjs')
  if (!fs.existsSync(tool)) return []
  const run = spawnSync(process.execPath, [tool, '--check'], { cwd: root, encoding: 'utf8' })
  return run.status === 0 ? [] : [`docs/errors.md: ${(run.stdout + run.stderr).trim()}`]
}

function main() {
  const files = listFiles()
  const texts = files.filter(isChecked).map(file => [file, read(file)])
  const breaches = [
    ...findFolderBreaches(files),
    ...files.filter(file => CODE.test(file)).flatMap(file => findLineBreaches(file, read(file))),
    ...files.filter(file => CODE.test(file)).flatMap(file => findSqlBreaches(file, read(file))),
    ...texts.flatMap(([file, text]) => findBannedWords(file, text)),
    ...findImportCircles(readImports(files)),
    ...findLockfileBreaches(read('package-lock.json')),
    ...['fuzz', 'e2e/clients', 'e2e/clients/agents'].flatMap(folder =>
      findLockfileBreaches(read(`${folder}/package-lock.json`), `${folder}/package-lock.json`),
    ),
    ...findSizeBreaches(files),
    ...findStaleDocuments(),
  ]
  for (const breach of breaches) console.log(breach)
  process.exitCode = breaches.length === 0 ? 0 : 1
}

if (isMain(import.meta.filename)) main()
