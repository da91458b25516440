import { destination, type Logger, pino } from 'pino'
import type { Config } from '../settings/settings.ts'
import { toTerminalLine } from './terminal-line.ts'

/** Where the log is written to. */
export interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** True if the log is text for people: on a terminal, unless RIDEAU_LOG_FORMAT sets another format. */
export function isForPeople({ logFormat }: Pick<Config, 'logFormat'>, { isTTY = false }: Output): boolean {
  return logFormat === undefined ? isTTY : logFormat === 'pretty'
}

/** Opens the log of the program: text for people, or JSON lines. */
export function openLog(
  config: Pick<Config, 'logFormat' | 'logLevel' | 'color'>,
  output: Output = process.stdout,
): Logger {
  const options = { level: config.logLevel }
  if (isForPeople(config, output)) {
    const hasColors = config.color ?? output.isTTY === true
    return pino(options, {
      // The width is read for every line, since a window changes its size.
      write: line => void output.write(toTerminalLine(line, { hasColors, columns: output.columns })),
    })
  }
  if (output !== process.stdout) return pino(options, { write: line => void output.write(line) })
  const file = destination(1)
  // A reader that has gone must not end the program: pino ignores a closed pipe, but not a closed terminal.
  file.on('error', () => {})
  return pino(options, file)
}
