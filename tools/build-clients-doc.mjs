// Writes the tables of docs/clients.md from the results of `npm run test:clients -- --write`.
//   node tools/build-clients-doc.mjs [--check]
import fs from 'node:fs'
import path from 'node:path'
import { isMain, root } from './build.mjs'

const PAGE = path.join(root, 'docs/clients.md')
const RESULTS = path.join(root, 'e2e/clients/results.json')
const TABLES = /(<!-- results: begin -->\n)[\s\S]*?(<!-- results: end -->)/
const MARKS = { passed: 'yes', failed: '**no**', known: '**no**', absent: '–', waits: 'late' }

/** One row a client: what it installs, and what became of each step. */
function toTable(results) {
  const clients = Object.entries(results)
  const steps = [...new Set(clients.flatMap(([, client]) => Object.keys(client.steps)))]
  const rows = clients.map(([name, { versions, steps: own }]) => {
    const pins = Object.entries(versions).map(([library, version]) => `${library} ${version}`)
    return [`\`${name}\``, pins.join(', '), ...steps.map(step => MARKS[own[step]] ?? '–')]
  })
  const lines = [['client', 'tested with', ...steps], Array(steps.length + 2).fill('---'), ...rows]
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** The page with the table of these results. */
export function withTable(page, results) {
  return page.replace(TABLES, (_, begin, end) => `${begin}${toTable(results)}\n${end}`)
}

export function writeClientTables() {
  fs.writeFileSync(PAGE, current())
}

function current() {
  return withTable(fs.readFileSync(PAGE, 'utf8'), JSON.parse(fs.readFileSync(RESULTS, 'utf8')))
}

if (isMain(import.meta.filename)) {
  if (!process.argv.includes('--check')) writeClientTables()
  else if (fs.readFileSync(PAGE, 'utf8') !== current()) {
    console.error('docs/clients.md: the table is not current: run node tools/build-clients-doc.mjs')
    process.exitCode = 1
  }
}
