// Writes docs/errors.md from the fault table: run it after every change of the table. With --check it writes nothing and
// exits 1 if the file is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = new URL('../docs/errors.md', import.meta.url)

// Node 20 cannot load TypeScript: the module is bundled in memory and imported from there.
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['packages/server/http/answer/docs-errors.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  write: false,
})
const source = Buffer.from(outputFiles[0].contents).toString('base64')
const { errorMarkdown } = await import(`data:text/javascript;base64,${source}`)
const text = errorMarkdown()
if (!process.argv.includes('--check')) writeFileSync(target, text)
else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
  console.log('is not what the fault table makes: run node tools/build-error-docs.mjs')
  process.exitCode = 1
}
