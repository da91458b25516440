import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { expect, test } from 'vitest'

const folder = path.dirname(fileURLToPath(import.meta.url))
/** What a page that uses all of the client side loads, minified. */
const MAX_CLIENT_BYTES = 20_000

/** Refuses every import of a package or a built-in module. */
const ownFilesOnly: Plugin = {
  name: 'own-files-only',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^.]/ }, ({ kind, path: name }) =>
      kind === 'entry-point' ? undefined : { errors: [{ text: `imports ${name}` }] },
    )
  },
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, entry)],
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    plugins: [ownFilesOnly],
  })
  return outputFiles[0]?.text ?? ''
}

const NODE_ONLY =
  /\bprocess\b\s*[.[]|\bBuffer\b|node:|\brequire\(|\b__dirname\b|\bsetImmediate\b|\bglobal\b\s*\./

test.each(['index.ts', 'server.ts'])(
  '%s bundles for a browser without a package and without a global of Node',
  async entry => {
    const text = await bundle(entry)
    expect(text.match(NODE_ONLY)).toBeNull()
    expect(text).not.toMatch(/\bimport\b\s*[("'{*]/)
  },
)

test('the client side is small, and holds nothing of the server side', async () => {
  const text = await bundle('index.ts')
  console.log(`@rideau/sdk: ${text.length} bytes, minified`)
  expect(text.length).toBeLessThan(MAX_CLIENT_BYTES)
  expect(text).not.toContain('/v1/orgs')
})

test('the check finds what it looks for', () => {
  for (const text of ['process.env', 'Buffer.from()', 'from"node:fs"', 'require("a")', 'global.x']) {
    expect(text).toMatch(NODE_ONLY)
  }
})
