// Writes the tables of docs/clients.md from the results of `npm run test:clients -- --write`.
//   node tools/build-clients-doc.mjs [--check]
import fs from 'node:fs'
import path from 'node:path'
import { isMain, root } from './build.mjs'

const PAGE = path.join(root, 'docs/clients.md')
/** The results by the name of their table on the page. */
const RESULTS = {
  results: path.join(root, 'e2e/clients/results.json'),
  agents: path.join(root, 'e2e/clients/agents/results.json'),
}
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

/** The page with the table of these results. `table`: `results` for the libraries, or `agents`. */
export function withTable(page, results, table = 'results') {
  const place = new RegExp(`(<!-- ${table}: begin -->\\n)[\\s\\S]*?(<!-- ${table}: end -->)`)
  return page.replace(place, (_, begin, end) => `${begin}${toTable(results)}\n${end}`)
}

export function writeClientTables() {
  fs.writeFileSync(PAGE, current())
}

function current() {
  return Object.entries(RESULTS).reduce(
    (page, [table, file]) => withTable(page, JSON.parse(fs.readFileSync(file, 'utf8')), table),
    fs.readFileSync(PAGE, 'utf8'),
  )
}

if (isMain(import.meta.filename)) {
  if (!process.argv.includes('--check')) writeClientTables()
  else if (fs.readFileSync(PAGE, 'utf8') !== current()) {
    console.error('docs/clients.md: the table is not current: run node tools/build-clients-doc.mjs')
    process.exitCode = 1
  }
}
