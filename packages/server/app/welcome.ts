import type { App } from './app.ts'
import { isForPeople, type Output } from './process/open-log.ts'
import type { Config } from './settings/settings.ts'

export interface WelcomeOptions {
  readonly config: Pick<Config, 'logFormat' | 'setupToken' | 'dashboardDir' | 'baseUrl'>
  readonly log: { info(details: object, message: string): void }
  readonly output: Output
}

type StartedApp = Pick<App, 'gatewayUrl' | 'controlUrl' | 'metricsUrl' | 'setupToken'>

/**
 * Writes where the program listens, and until it is set up the one-time token: for a person at a terminal the address that opens the
 * set-up (without the dashboard a command to paste), elsewhere a line of the log. The token is the address's fragment, which browsers
 * send to no server. A token that the operator set is a secret that they know, and is not written.
 */
export function welcome(app: StartedApp, { config, log, output }: WelcomeOptions): void {
  const isTokenKnown = config.setupToken !== undefined
  const setupUrl = toSetupUrl(app, config)
  if (isForPeople(config, output)) output.write(toText(app, isTokenKnown, setupUrl))
  else {
    const { gatewayUrl: gateway_url, controlUrl: control_url, metricsUrl: metrics_url, setupToken } = app
    const isShown = control_url !== undefined && setupToken !== undefined && !isTokenKnown
    const token = isShown ? { setup_token: setupToken, setup_url: setupUrl } : {}
    const needsSetUp = control_url !== undefined && setupToken !== undefined
    const message = needsSetUp ? 'started; waits for its set-up by POST /v1/setup' : 'started'
    log.info({ gateway_url, control_url, metrics_url, ...token }, message)
  }
}

/** undefined: set-up is done, or this process serves no dashboard. */
function toSetupUrl(
  { controlUrl, setupToken }: StartedApp,
  { dashboardDir, baseUrl, setupToken: known }: WelcomeOptions['config'],
): string | undefined {
  if (controlUrl === undefined || setupToken === undefined || dashboardDir === undefined) return undefined
  return `${baseUrl ?? controlUrl}/setup${known === undefined ? `#token=${setupToken}` : ''}`
}

/** Every line fits into 80 columns, so that the command can be copied. */
function toText(
  { gatewayUrl, controlUrl, metricsUrl, setupToken }: StartedApp,
  isTokenKnown: boolean,
  setupUrl: string | undefined,
): string {
  const lines = ['']
  if (gatewayUrl !== undefined) lines.push(`  Gateway        ${gatewayUrl}`)
  if (controlUrl !== undefined) lines.push(`  Control plane  ${controlUrl}`)
  if (metricsUrl !== undefined) lines.push(`  Metrics        ${metricsUrl}/metrics`)
  if (setupUrl !== undefined) {
    const note = isTokenKnown ? ', with the RIDEAU_SETUP_TOKEN that you set' : ''
    lines.push('', `  Open this address to set Rideau up${note}:`, '', `  ${setupUrl}`)
  } else if (controlUrl !== undefined && setupToken !== undefined) {
    lines.push(
      '',
      '  This deployment is not set up yet. Paste this command with your own e-mail',
      `  and password${isTokenKnown ? ', and the RIDEAU_SETUP_TOKEN that you set' : ''}:`,
      '',
      `  curl -s ${controlUrl}/v1/setup \\`,
      "    -H 'content-type: application/json' -d '{",
      `      "setup_token": "${isTokenKnown ? 'the one you set' : setupToken}",`,
      '      "email": "you@example.com", "password": "choose a long one",',
      `      "organization": { "name": "My company" } }'`,
    )
  }
  return `${lines.join('\n')}\n\n`
}
