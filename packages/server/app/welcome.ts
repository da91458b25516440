import type { App } from './app.ts'
import { isForPeople, type Output } from './open-log.ts'
import type { Config } from './settings.ts'

export interface WelcomeOptions {
  readonly config: Pick<Config, 'logFormat' | 'setupToken'>
  readonly log: { info(details: object, message: string): void }
  readonly output: Output
}

type Started = Pick<App, 'gatewayUrl' | 'controlUrl' | 'metricsUrl' | 'setupToken'>

/**
 * Writes where the program listens, and until it is set up the one-time token: a command to paste for a person at a terminal, or a
 * line of the log. A token that the operator set is a secret that they know, and is not written.
 */
export function welcome(app: Started, { config, log, output }: WelcomeOptions): void {
  if (isForPeople(config, output)) output.write(toText(app, config.setupToken !== undefined))
  else {
    const { gatewayUrl: gateway_url, controlUrl: control_url, metricsUrl: metrics_url, setupToken } = app
    const isShown = control_url !== undefined && setupToken !== undefined && config.setupToken === undefined
    const token = isShown ? { setup_token: setupToken } : {}
    const needsSetUp = control_url !== undefined && setupToken !== undefined
    const message = needsSetUp ? 'started; waits for its set-up by POST /v1/setup' : 'started'
    log.info({ gateway_url, control_url, metrics_url, ...token }, message)
  }
}

/** Every line fits into 80 columns, so that the command can be copied. */
function toText({ gatewayUrl, controlUrl, metricsUrl, setupToken }: Started, isTokenKnown: boolean): string {
  const lines = ['']
  if (gatewayUrl !== undefined) lines.push(`  Gateway        ${gatewayUrl}`)
  if (controlUrl !== undefined) lines.push(`  Control plane  ${controlUrl}`)
  if (metricsUrl !== undefined) lines.push(`  Metrics        ${metricsUrl}/metrics`)
  if (controlUrl !== undefined && setupToken !== undefined) {
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
