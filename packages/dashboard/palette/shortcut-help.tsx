import { Dialog } from '../controls/dialog.tsx'
import { PAGES } from '../layout/nav.tsx'

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['Ctrl', 'K'], 'Search or jump'],
  ...PAGES.map(({ key, name }) => [['g', key], `Open ${name}`] as const),
  [['/'], 'Go to the filters of the page, or search'],
  [['t'], 'Go to the time of the page'],
  [['j', 'k'], 'Next or previous row of Logs'],
  [['Enter'], 'Open the row'],
  [['[', ']'], 'Newer or older request with the same filter'],
  [['?'], 'This help'],
]

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
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
      <p className="muted small">You can turn off single-key shortcuts in the menu of your account.</p>
    </Dialog>
  )
}
