import { MAX_ROLLING_ENTRIES } from '../../core/rolling-resolution.ts'
import { COUNTING_RULES } from '../rules/counting-rules.ts'

/** Added to a rule's code for meters whose subject excludes the sandbox. */
export const EXCLUDES_SANDBOX = COUNTING_RULES.length

/** Returns the counting rules as Lua lists, indexed by the codes of `codeOf`. So the scripts have no rules of their own. */
export function toLuaRules(): string {
  const excluding = COUNTING_RULES.map(rule => ({
    ...rule,
    // A rate counts every admitted request.
    settlesOfSandbox: rule.settles === 'one' ? 'one' : 'nothing',
  }))
  const all = [...COUNTING_RULES.map(rule => ({ ...rule, settlesOfSandbox: rule.settles })), ...excluding]
  const toList = (values: readonly (string | boolean)[]): string =>
    `{ ${values.map(value => (typeof value === 'string' ? `'${value}'` : String(value))).join(', ')} }`
  return [
    `local RESERVES = ${toList(all.map(({ reserves }) => reserves))}`,
    `local SETTLES = ${toList(all.map(({ settles }) => settles))}`,
    `local SETTLES_OF_SANDBOX = ${toList(all.map(({ settlesOfSandbox }) => settlesOfSandbox))}`,
    `local IS_ROLLING = ${toList(all.map(({ isRolling }) => isRolling))}`,
    `local MAX_ROLLING_ENTRIES = ${MAX_ROLLING_ENTRIES}`,
  ].join('\n')
}
