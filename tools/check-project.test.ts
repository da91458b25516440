import { describe, expect, test } from 'vitest'
import { findBannedWords, isChecked } from './banned-words.mjs'
import {
  findFolderBreaches,
  findLineBreaches,
  findLockfileBreaches,
  findSqlBreaches,
} from './check-project.mjs'
import { findImportCircles, listImports } from './import-graph.mjs'

/** This file is checked too. */
const ENV = 'process.env'

describe('the check of project rules', () => {
  test('refuses a folder with a general name', () => {
    expect(findFolderBreaches(['packages/server/utils/a.ts', 'packages/server/core/a.ts'])).toHaveLength(1)
  })

  test.each([
    ['packages/server/gateway/a.ts', "const vm = await import('node:vm')"],
    ['packages/dashboard/pages/a.tsx', "lazy(() => import('./b.tsx'))"],
    ['packages/server/tracing/load-sdk.ts', "await import('node:vm')"],
    ['packages/server/tracing/open-tracing.ts', "await import('@opentelemetry/api')"],
    ['packages/server/gateway/a.ts', "process.getBuiltinModule('fs')"],
    ['packages/server/gateway/a.ts', 'createRequire(import.meta.url)'],
    ['packages/server/gateway/a.ts', `// ${'FIX' + 'ME'} later`],
    ['packages/server/gateway/a.ts', 'x.res.writeHead(200, headers)'],
    ['packages/server/control/a.ts', "reply.raw.setHeader('X-Name', name)"],
    ['packages/server/http/metrics/metrics.ts', "res.appendHeader('X-Name', name)"],
    ['e2e/a.test.ts', `const SECONDS = Number(${ENV}.RIDEAU_SOAK_SECONDS)`],
    ['bench/mock.c', `// ${'TO' + 'DO'}: later`],
  ])('%s: refuses %s', (file, line) => {
    expect(findLineBreaches(file, `first\n${line}`)).toEqual([expect.stringContaining(`${file}:2: `)])
  })

  test.each([
    ['packages/server/storage/embedded/native.ts', 'createRequire(import.meta.url)'],
    ['packages/server/gateway/a.test.ts', "await import('./b.ts')"],
    ['packages/dashboard/router.tsx', "lazy(() => import('./pages/a.tsx'))"],
    ['packages/server/tracing/load-sdk.ts', "await import('@opentelemetry/api')"],
    ['tools/build.mjs', "await import('esbuild')"],
    ['packages/server/http/answer/write-head.ts', 'res.writeHead(status, headers)'],
    ['packages/server/gateway/a.ts', 'writeHead(x.res, 200, headers)'],
    ['packages/server/gateway/a.test.ts', 'res.writeHead(200)'],
    ['e2e/a.test.ts', `const SECONDS = Number(${ENV}.RIDEAU_TEST_SOAK_SECONDS)`],
    ['e2e/clients/a.mjs', `call(${ENV}.RIDEAU_KEY)`],
  ])('%s: lets pass %s', (file, line) => {
    expect(findLineBreaches(file, line)).toEqual([])
  })

  test('refuses a lockfile that names a registry', () => {
    const lock = (resolved: string) =>
      JSON.stringify({
        packages: { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a', resolved } },
      })
    expect(findLockfileBreaches(lock('https://registry.example/a/-/a-1.0.0.tgz'))).toHaveLength(1)
    expect(findLockfileBreaches(lock('packages/a'))).toEqual([])
  })

  test('refuses a package of the lockfile without an integrity hash, and none that is a link into the repository', () => {
    const lock = (entry: object) => JSON.stringify({ packages: { '': {}, 'node_modules/a': entry } })
    expect(findLockfileBreaches(lock({ version: '1.0.0', optional: true }))).toEqual([
      expect.stringContaining('node_modules/a has no integrity hash'),
    ])
    expect(findLockfileBreaches(lock({ version: '1.0.0', integrity: 'sha512-a' }))).toEqual([])
    expect(findLockfileBreaches(lock({ resolved: 'packages/a', link: true }))).toEqual([])
  })
})

describe('the check of import circles', () => {
  const toFiles = (texts: Record<string, string>) =>
    Object.entries(texts).map(([file, text]) => [file, listImports(file, text)])

  test('refuses folders that import each other, even if no two files do and one import is of a type', () => {
    const files = toFiles({
      'packages/server/a/one.ts': "import type { Two } from '../b/two.ts'",
      'packages/server/b/two.ts': 'export type Two = 2',
      'packages/server/b/three.ts': "import { four } from '../a/four.ts'",
      'packages/server/a/four.ts': 'export const four = 4',
    })
    expect(findImportCircles(files)).toEqual([
      expect.stringMatching(/^packages\/server\/a, packages\/server\/b: these folders /),
    ])
  })

  test('refuses a circle of folders across packages, over a third folder', () => {
    const files = toFiles({
      'packages/server/a/one.ts': "export { two } from '@rideau/llm/b/two'",
      'packages/llm/b/two.ts': "import '../c/three.ts'",
      'packages/llm/c/three.ts': "import { one } from '../../server/a/one.ts'",
    })
    expect(findImportCircles(files)).toEqual([
      expect.stringContaining('packages/llm/b, packages/llm/c, packages/server/a: these folders '),
      expect.stringContaining('three.ts, packages/server/a/one.ts: these files '),
    ])
  })

  test('refuses files of one folder that import each other', () => {
    const files = toFiles({
      'packages/server/a/one.ts': "import { two } from './two.ts'",
      'packages/server/a/two.ts': "import type { One } from './one.ts'",
    })
    expect(findImportCircles(files)).toEqual([
      expect.stringContaining('packages/server/a/one.ts, packages/server/a/two.ts: these files '),
    ])
  })

  test('allows imports in one direction', () => {
    const files = toFiles({
      'packages/server/a/one.ts': "import { two } from '../b/two.ts'\nimport { three } from './three.ts'",
      'packages/server/a/three.ts': "import { two } from '../b/two.ts'",
      'packages/server/b/two.ts': "import path from 'node:path'",
    })
    expect(findImportCircles(files)).toEqual([])
  })
})

describe('the check of banned words', () => {
  test.each([
    ['packages/server/gateway/a.ts', '/** Adds one more house to the fleet. */', 'app'],
    ['packages/server/gateway/a.ts', 'export function run(exchange: Exchange): void {', 'RequestContext'],
    ['packages/llm/a.ts', 'export const OPENAI_DIALECT = 1', 'format'],
    ['packages/server/http/a.test.ts', 'const mendAll = (): void => {}', 'patch'],
    ['packages/server/http/a.ts', '// Runs inTurn.', 'batchInTick'],
    ['packages/server/gateway/a.ts', '/** Refused on every surface. */', 'format'],
    ['packages/server/gateway/a.ts', 'const SURFACE_REQUESTS = 1', 'format'],
    ['packages/server/gateway/a.ts', '// A price that nobody knows.', 'unknown'],
    ['docs/decisions/0099-new.md', 'in the same turn of the event loop', 'tick'],
    ['packages/server/ledger/a.ts', 'await settleFormer()', 'settleRecovered'],
    ['packages/server/gateway/a.ts', 'const MAX_HELD_BYTES = 1', 'MAX_BUFFERED_'],
    ['README.md', 'bytes that were held back', 'buffer'],
    ['packages/server/gateway/a.ts', 'const { targets }: CallPlan = planChat', 'selection'],
    ['docs/decisions/0099-new.md', 'a body that is read, parsed and planned', 'selection'],
    ['packages/llm/a.test.ts', "test('an effort that the plan removed', () => {", 'selection'],
    ['packages/server/gateway/a.ts', 'ctx.calledAt = 1', 'firstAttemptAt'],
    ['packages/server/gateway/a.ts', 'export function refuseOthers(): void {', 'assert'],
    ['e2e/a.ts', '// Read as far as it goes.', 'condition'],
    ['packages/llm/a.ts', '// Sent unasked (wire facts §2).', 'docs/providers.md'],
    ['tools/a.mjs', '// See contract.md §3.', 'docs/'],
  ])('%s: refuses %s and names the word to write instead', (file, line, instead) => {
    const [breach, ...more] = findBannedWords(file, `first\n${line}`)
    expect(breach).toMatch(new RegExp(`^${file}:2: .*${instead}`))
    expect(more).toEqual([])
  })

  test.each([
    ['packages/server/identity/a.ts', 'export type TokenExchange = (exchange: ExchangeOptions) => void'],
    ['packages/server/storage/pool.ts', 'new Kysely({ dialect: new PostgresDialect({ pool }) })'],
    ['packages/llm/formats/a.ts', '/** One turn of the conversation, amended in turn. */'],
    ['packages/server/app/a.ts', 'openBox({ formerMasterKeys })'],
    ['packages/server/storage/a.ts', "select surface from request_logs where surface = 'chat'"],
    ['docs/operations.md', 'The disk held 1 GiB.'],
    ['packages/server/gateway/a.ts', 'assertPlanScope(limits.plan, need)'],
  ])('%s: allows %s', (file, line) => {
    expect(findBannedWords(file, line)).toEqual([])
  })

  test.each([
    ['packages/server/core/a.ts', true],
    ['e2e/a.ts', true],
    ['tools/a.mjs', true],
    ['docs/operations.md', true],
    ['CHANGELOG.md', true],
    ['tools/banned-words.mjs', false],
    ['tools/check-project.test.ts', false],
    ['docs/openapi.json', false],
    ['catalog/openai.json', false],
  ])('reads %s: %s', (file, expected) => {
    expect(isChecked(file)).toBe(expected)
  })
})

test('SQL that is joined from texts is a breach outside of the files that join constants', () => {
  const file = 'packages/server/storage/keys/keys.ts'
  for (const text of [
    'sql.raw(name)',
    'sql.lit(name)',
    'pool.query(\n  `select ${name}`)',
    'client.query<Row>(`select ${name}`)',
    'client.query({ name: "n", text: `select ${name}` })',
    'sql.raw<string>(name)',
    'const query = { text: `\n  Select ${name}` }',
  ]) {
    expect(findSqlBreaches(file, text)).toEqual([`${file}: bind the values of SQL as parameters`])
    expect(findSqlBreaches('packages/server/storage/migrate.ts', text)).toEqual([])
  }
  expect(findSqlBreaches(file, 'sql`select ${name}`; pool.query(`select $1`, [`${name}`])')).toEqual([])
  expect(findSqlBreaches(file, 'const mail = { text: `Selected by ${name}` }')).toEqual([])
})
