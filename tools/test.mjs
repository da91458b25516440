// npm test: the checks, then every test. `npm test -- PATH` runs the tests of that path alone.
// With RIDEAU_TEST_REQUIRE=all a skipped test is a failure.
// In a run of all tests, files with failures run again, alone and three times: some tests measure CPU time or race real
// processes, and the rest of a long run can disturb them. What passes each time then is named at the end, to be repaired.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { isMain, root } from './build.mjs'
import { runChecks } from './check.mjs'

/** More files with failures than this are no accident, so they don't run again. */
const MAX_UNSTEADY_FILES = 3
/** A defect that shows now and then hardly passes so often. */
const RUNS_AGAIN = 3

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

/** The files of a report that have failures, and the names of those. A file that does not load is named itself. */
export function findFailures(report) {
  const failed = report.testResults.filter(({ status }) => status === 'failed')
  const names = failed.flatMap(({ name, assertionResults }) => {
    const tests = assertionResults.filter(({ status }) => status === 'failed')
    return tests.length === 0 ? [name] : tests.map(({ fullName }) => `${name} > ${fullName}`)
  })
  return { files: [...new Set(failed.map(({ name }) => name))], names: [...new Set(names)] }
}

/** Runs vitest. `errors`: how many errors came from outside any test. */
async function runVitest(args, reportFile) {
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const errorsReporter = path.join(root, 'tools', 'testing', 'errors-reporter.mjs')
  const errorsFile = `${reportFile}.errors`
  const reporters = ['default', 'json', errorsReporter].map(name => `--reporter=${name}`)
  const code = await new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [vitest, 'run', ...reporters, `--outputFile.json=${reportFile}`, ...args],
      { cwd: root, stdio: 'inherit', env: { ...process.env, RIDEAU_TEST_ERRORS_FILE: errorsFile } },
    )
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 1))
  })
  if (!fs.existsSync(reportFile)) throw new Error('vitest wrote no report')
  const errors = Number(fs.readFileSync(errorsFile, 'utf8'))
  return { code, errors, report: JSON.parse(fs.readFileSync(reportFile, 'utf8')) }
}

/** Runs the files with failures alone; returns the names of the tests that failed only in the first run, or undefined if one fails again. */
async function runAgain({ report, errors }, folder) {
  const { files, names } = findFailures(report)
  if (errors > 0 || files.length === 0 || files.length > MAX_UNSTEADY_FILES) return
  for (let run = 1; run <= RUNS_AGAIN; run++) {
    console.log(`\nnpm test: again, alone, ${run} of ${RUNS_AGAIN}:\n  ${names.join('\n  ')}`)
    const again = await runVitest(files, path.join(folder, `again-${run}.json`))
    const { passed, failed } = summarize(again.report)
    if (again.code !== 0 || failed > 0 || passed === 0) return
  }
  return names
}

async function main(args) {
  const isWhole = args.length === 0
  const checked = !isWhole || (await runChecks())
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rideau-test-'))
  try {
    const first = await runVitest(args, path.join(folder, 'report.json'))
    const { passed, failed, skipped } = summarize(first.report)
    const unsteady = isWhole ? await runAgain(first, folder) : undefined
    const skipsRefused = process.env.RIDEAU_TEST_REQUIRE === 'all' && skipped.length > 0
    if (!checked) console.log('\nnpm test: a check failed, see the top')
    if (skipsRefused)
      console.log(`\nnpm test: RIDEAU_TEST_REQUIRE=all, but skipped:\n  ${skipped.join('\n  ')}`)
    if (first.code !== 0 && failed === 0) console.log('\nnpm test: vitest failed outside any test, see above')
    if (unsteady !== undefined)
      console.log(
        `\nnpm test: unsteady, failed in the whole run and passed alone:\n  ${unsteady.join('\n  ')}`,
      )
    const late = unsteady === undefined ? 0 : failed
    console.log(`\n${passed + late} passed, ${failed - late} failed, ${skipped.length} skipped`)
    const allPassed = (first.code === 0 && failed === 0) || unsteady !== undefined
    process.exitCode = checked && allPassed && passed > 0 && !skipsRefused ? 0 : 1
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

if (isMain(import.meta.filename)) await main(process.argv.slice(2))
