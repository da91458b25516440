// Writes docs/openapi.json from the operations of the control plane: run it after every change of a schema, and
// tools/build-sdk-sources.mjs after it. With --check it writes nothing and exits 1 if the file is stale.
// An optional argument names the folder of another tree to work on.
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from './build.mjs'

const folder = process.argv.slice(2).find(argument => !argument.startsWith('--')) ?? root
const NAME = 'docs/openapi.json'
const text = `${JSON.stringify(await makeDocument(), null, 2)}\n`
const file = path.join(folder, NAME)
if (!process.argv.includes('--check')) fs.writeFileSync(file, text)
else if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) {
  console.log(`${NAME} is not what the operations make: run node tools/build-openapi.mjs`)
  process.exitCode = 1
}

/** Node 20 cannot load TypeScript: the module is bundled in memory, with what it needs, and imported from there. */
async function makeDocument() {
  const here = JSON.stringify(pathToFileURL(import.meta.filename).href)
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['packages/server/control/open-api-document.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    // CommonJS packages load built-in modules by require, which a module does not have.
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(${here});` },
    write: false,
    logLevel: 'error',
  })
  const source = Buffer.from(outputFiles[0].contents).toString('base64')
  const { createOpenApiDocument } = await import(`data:text/javascript;base64,${source}`)
  return createOpenApiDocument()
}
