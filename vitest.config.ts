import { defineConfig } from 'vitest/config'
import {
  findInstalledPostgres,
  ON_INSTALLED_POSTGRES,
} from './packages/server/testing/harness/installed-postgres.ts'

const pure = [
  'packages/llm/**/*.test.ts',
  'packages/server/core/**/*.test.ts',
  'packages/llm/formats/openai-responses/server/parse-recorded-requests.test.ts',
  'tools/**/*.test.ts',
  'packages/sdk/*.test.ts',
  'fuzz/*.test.ts',
  'packages/dashboard/{format,session,snippets}/*.test.ts',
  'packages/dashboard/pages/*/*.test.ts',
]

/** The control plane's suites in which no statement reaches the database, or none that another suite does not send. */
const withoutSql = [
  'any-text',
  'bad-input',
  'catalog/catalog',
  'operation/control-rates',
  'documents',
  'exceptions',
  'open-api',
  'provider-credentials/parse-options',
  'operation/map-in-slices',
  'operation/signed-cursor',
  'usage/fill-usage',
].map(name => `packages/server/control/${name}.test.ts`)

const served = { globalSetup: 'packages/server/testing/harness/global-setup.ts' }

/**
 * The control plane's suites once more, with the machine's own PostgreSQL for their database. Where none is installed
 * global-setup.ts says so, or fails; with RIDEAU_TEST_DATABASE_URL every suite runs on that server as it is.
 */
const onInstalledPostgres = {
  extends: true as const,
  test: {
    ...served,
    name: ON_INSTALLED_POSTGRES,
    include: ['packages/server/control/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...withoutSql],
  },
}

const hasBoth = process.env.RIDEAU_TEST_DATABASE_URL === undefined && findInstalledPostgres() !== undefined

export default defineConfig({
  test: {
    pool: 'threads',
    // More than two slow each other down on the small machines that run this.
    maxWorkers: 2,
    // The files of a worker share one graph of modules, as the parts of a running program do. Half of the CPU time of a
    // run went into loading it anew for each file.
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // A busy machine may take long for what a poll waits for. None expects that it comes soon.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      { extends: true, test: { name: 'pure', include: pure } },
      {
        extends: true,
        test: {
          ...served,
          name: 'served',
          include: ['packages/**/*.test.ts', 'e2e/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...pure],
        },
      },
      ...(hasBoth ? [onInstalledPostgres] : []),
    ],
  },
})
