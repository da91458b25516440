// Writes packages/sdk/generated/ from the fault table and docs/openapi.json: run it after every change of either. With --check
// it writes nothing and exits 1 if a file is stale. An optional argument names the folder of another tree to work on.
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { root } from './build.mjs'
import { toClientTypes } from './client-types/to-client-types.mjs'

const folder = process.argv.slice(2).find(argument => !argument.startsWith('--')) ?? root
const HEADER = '// Made by tools/build-sdk-sources.mjs: do not edit.\n\n'
const document = JSON.parse(fs.readFileSync(path.join(root, 'docs/openapi.json'), 'utf8'))
const files = {
  'packages/sdk/generated/error-codes.ts': toErrorCodes(await readFaults()),
  'packages/sdk/generated/control-operations.ts': toOperations(document),
  // A module and not a declaration file, because the compiler copies none of those into the package.
  'packages/sdk/generated/control-api.ts': HEADER + (await toClientTypes(document)),
}
for (const [name, text] of Object.entries(files)) {
  const file = path.join(folder, name)
  if (!process.argv.includes('--check')) {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  } else if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) {
    console.log(
      `${name} is not what the fault table and docs/openapi.json make: run node tools/build-sdk-sources.mjs`,
    )
    process.exitCode = 1
  }
}

/** Node 20 cannot load TypeScript: the table is bundled in memory and imported from there. */
async function readFaults() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['packages/server/core/fault-table.ts'],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'error',
  })
  const source = Buffer.from(outputFiles[0].contents).toString('base64')
  return (await import(`data:text/javascript;base64,${source}`)).FAULTS
}

function toErrorCodes(faults) {
  const lines = Object.entries(faults).map(([code, { status }]) => `  ${code}: ${status},\n`)
  const type = `/** Every error code of this version. */\nexport type ErrorCode = keyof typeof ERROR_STATUSES\n`
  return `${HEADER}/** The HTTP status of each error code. */\nexport const ERROR_STATUSES = {\n${lines.join('')}} as const\n\n${type}`
}

function toOperations({ paths }) {
  const lines = Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId !== undefined)
      .map(([method, { operationId }]) => `  ['${operationId}', '${method.toUpperCase()} ${route}'],\n`),
  )
  const type = 'readonly (readonly [id: string, route: string])[]'
  return `${HEADER}/** Method and path of each operation. */\nexport const CONTROL_OPERATIONS: ${type} = [\n${lines.join('')}]\n`
}
