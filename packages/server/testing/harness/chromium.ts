import { type Browser, chromium } from 'playwright-core'
import { findProgram } from './find-program.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/** The browser of this machine; undefined if there is none. `CHROMIUM_PATH` names one that is not on the PATH. */
export const chromiumProgram: string | undefined = process.env.CHROMIUM_PATH ?? findProgram(NAMES)

if (chromiumProgram === undefined) {
  console.log('skipped: every test in a browser (none of chromium and google-chrome is installed)')
}

/** Starts the browser without a window. Each of its contexts has its own cookies and storage. */
export function startChromium(): Promise<Browser> {
  if (chromiumProgram === undefined) throw new Error('no chromium: guard the suite with chromiumProgram')
  // Its sandbox needs rights that containers and root do not have, and its shared memory is small there.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
  return chromium.launch({ executablePath: chromiumProgram, args })
}
