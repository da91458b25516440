// npm test: the checks, then every test. `npm test -- PATH` runs the tests of that path alone.
// With RIDEAU_TEST_REQUIRE=all a skipped test is a failure.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { isMain, root } from './build.mjs'
import { runChecks } from './check.mjs'

/** The counts as vitest's JSON report gives them. A file that does not load counts as one failure. */
export function summarize(report) {
  const results = report.testResults.flatMap(file =>
    file.assertionResults.map(({ status, fullName }) => ({ status, name: `${file.name} > ${fullName}` })),
  )
  const broken = report.testResults.filter(
    file => file.status === 'failed' && file.assertionResults.length === 0,
  )
  const count = status => results.filter(result => result.status === status).length
  const passed = count('passed')
  const failed = count('failed') + broken.length
  const skipped = results.filter(({ status }) => status !== 'passed' && status !== 'failed')
  return { passed, failed, skipped: skipped.map(({ name }) => name) }
}

function runVitest(args, reportFile) {
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
      cwd: root,
      stdio: 'inherit',
    })
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 1))
  })
}

async function main(args) {
  const checked = args.length > 0 || (await runChecks())
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-test-'))
  try {
    const reportFile = path.join(folder, 'report.json')
    const code = await runVitest(args, reportFile)
    if (!fs.existsSync(reportFile)) throw new Error('vitest wrote no report')
    const { passed, failed, skipped } = summarize(JSON.parse(fs.readFileSync(reportFile, 'utf8')))
    const skipsRefused = process.env.RIDEAU_TEST_REQUIRE === 'all' && skipped.length > 0
    if (!checked) console.log('\nnpm test: a check failed, see the top')
    if (skipsRefused)
      console.log(`\nnpm test: RIDEAU_TEST_REQUIRE=all, but skipped:\n  ${skipped.join('\n  ')}`)
    if (code !== 0 && failed === 0) console.log('\nnpm test: vitest failed outside any test, see above')
    console.log(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped`)
    process.exitCode = checked && code === 0 && failed === 0 && passed > 0 && !skipsRefused ? 0 : 1
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

if (isMain(import.meta.filename)) await main(process.argv.slice(2))
