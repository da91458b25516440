// The configuration of each client, as docs/clients.md shows it: the scripts have no other, so the page is tested.
import fs from 'node:fs'
import path from 'node:path'

const BLOCK = /<!-- client: ([\w ./-]+) -->\s*```(\w+)\n([\s\S]*?)```/g

/** The blocks of the page by the client's name: `{ language, code }`. */
export function readConfigurations(page) {
  const blocks = new Map()
  for (const [, names, language, code] of page.matchAll(BLOCK)) {
    for (const name of names.split(' ')) blocks.set(name, { language, code })
  }
  return blocks
}

/**
 * Writes a client's block as a module beside its script. Its `configure(key)` runs the block with RIDEAU_KEY set to the key
 * and returns the constants that it declares.
 */
export function writeConfiguration(folder, { language, code }) {
  const lines = code.trimEnd().split('\n')
  if (language === 'python') {
    const isImport = line => /^(import|from) /.test(line)
    const body = lines.filter(line => !isImport(line)).map(line => `    ${line}`)
    const text = ['import os', ...lines.filter(isImport), '', 'def configure(key):']
    text.push('    os.environ["RIDEAU_KEY"] = key', ...body, '    return locals()', '')
    fs.writeFileSync(path.join(folder, 'configuration.py'), text.join('\n'))
    return
  }
  const isImport = line => line.startsWith('import ')
  const names = [...code.matchAll(/^const (\w+) =/gm)].map(([, name]) => name)
  const text = [...lines.filter(isImport), '', 'export function configure(key) {']
  text.push('process.env.RIDEAU_KEY = key', ...lines.filter(line => !isImport(line)))
  text.push(`return { ${names.join(', ')} }`, '}', '')
  fs.writeFileSync(path.join(folder, 'configuration.mjs'), text.join('\n'))
}
