import { Dialog } from '../controls/dialog.tsx'
import { PAGES } from '../layout/nav.tsx'

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['Ctrl', 'K'], 'Search or jump'],
  ...PAGES.map(({ key, name }) => [['g', key], `Open ${name}`] as const),
  [['/'], 'Filters of the page, else search or jump'],
  [['t'], 'Time of the page'],
  [['j', 'k'], 'Next, previous row of Logs'],
  [['Enter'], 'Open the row'],
  [['[', ']'], 'Newer, older request of the same filter'],
  [['?'], 'This help'],
]

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <table className="table">
        <tbody>
          {KEYS.map(([keys, does]) => (
            <tr key={does}>
              <th scope="row">
                {keys.map(key => (
                  <span key={key}>
                    <kbd>{key}</kbd>{' '}
                  </span>
                ))}
              </th>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="muted small">Shortcuts of one key are turned off in the menu of your account.</p>
    </Dialog>
  )
}
