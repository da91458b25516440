// Writes docs/openapi.json from the operations of the control plane, and from it the types of its client: run it after
// every change of a schema. With --check it writes nothing and exits 1 if a file is stale.
// An optional argument names the folder of another tree to work on.
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from './build.mjs'
import { toClientTypes } from './client-types/to-client-types.mjs'

const folder = process.argv.slice(2).find(argument => !argument.startsWith('--')) ?? root
const document = await makeDocument()
const files = {
  'docs/openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'packages/server/testing/generated/control-api.d.ts': await toClientTypes(document),
}
for (const [name, text] of Object.entries(files)) {
  const file = path.join(folder, name)
  if (!process.argv.includes('--check')) fs.writeFileSync(file, text)
  else if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) {
    console.log(`${name} is not what the operations make: run node tools/build-openapi.mjs`)
    process.exitCode = 1
  }
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
