// A reporter for vitest: writes how many errors came from outside any test, which its JSON report does not tell, to the
// file that RIDEAU_TEST_ERRORS_FILE names.
import fs from 'node:fs'

export default class ErrorsReporter {
  onTestRunEnd(_modules, errors) {
    fs.writeFileSync(process.env.RIDEAU_TEST_ERRORS_FILE, String(errors.length))
  }
}
