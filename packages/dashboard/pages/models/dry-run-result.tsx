import { toPercent } from '../../format/amounts.ts'
import type { DryRun } from './model-calls.ts'

/** Shows which target would serve a request now, and why the others would not. */
export function DryRunResult({ result: { serves, targets, strategy } }: { result: DryRun }) {
  return (
    <div className={`notice ${serves === null ? 'bad' : 'good'}`}>
      <strong>
        {serves === null
          ? 'No target could serve a request now.'
          : strategy === 'weighted'
            ? `Most requests would go to ${serves}.`
            : `Would serve: ${serves}.`}
      </strong>
      <ul>
        {targets.map(({ model, usable, message, reason, share }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a model may be in the list twice, and the list does not change.
          <li key={index}>
            {model}: {message}
            {share !== null && usable && ` ${toPercent(share)} of the requests.`}
            {reason !== null && (
              <>
                {' '}
                <code>{reason}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
