import { defineConfig } from 'vitest/config'

const pure = ['packages/llm/**/*.test.ts', 'packages/server/core/**/*.test.ts', 'tools/**/*.test.ts']

export default defineConfig({
  test: {
    pool: 'threads',
    // More than two slow each other down on the small machines that run this.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'pure', include: pure } },
      {
        extends: true,
        test: {
          name: 'served',
          include: ['packages/**/*.test.ts', 'e2e/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...pure],
          globalSetup: 'packages/server/testing/global-setup.ts',
        },
      },
    ],
  },
})
