import { Tabs } from 'radix-ui'
import { CodeBlock } from '../controls/code-block.tsx'
import type { Snippet } from './snippets.ts'

/** Shows snippets as tabs. `shown` are the same snippets with the key masked; the copy button copies the whole key. */
export function SnippetTabs({
  snippets,
  shown,
}: {
  snippets: readonly Snippet[]
  shown: readonly Snippet[]
}) {
  return (
    <Tabs.Root defaultValue={snippets[0]?.id ?? ''}>
      <Tabs.List className="tabs" aria-label="Ways to call">
        {snippets.map(({ id, label }) => (
          <Tabs.Trigger key={id} value={id} className="tab">
            {label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {snippets.map(({ id, label, install, text }) => (
        <Tabs.Content key={id} value={id} className="tab-panel stack">
          {install?.map(({ folder, command }, index) => (
            <p key={command} className="small muted">
              {index === 0 ? 'First run' : 'Then run'} <code>{command}</code>
              {folder !== undefined && ` in ${folder}.`}
            </p>
          ))}
          <CodeBlock text={text} shown={shown.find(item => item.id === id)?.text ?? text} label={label} />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  )
}
