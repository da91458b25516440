import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command, defaultFilter } from 'cmdk'
import { useState } from 'react'
import { listKeys } from '../api/key-calls.ts'
import { type ProjectEnvironment, toParams } from '../api/workspace.ts'
import { Dialog } from '../controls/dialog.tsx'
import { ORGANIZATION_PAGES, PAGES } from '../layout/nav.tsx'
import { useOptionalEnvironment, useOrganization } from '../session/environment-context.tsx'
import './palette.css'

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Finds pages, environments and keys by a few letters of their names, pages by synonyms too, and a request by its pasted id. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const current = useOptionalEnvironment()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const go = (to: () => Promise<void>) => (): void => {
    onClose()
    void to()
  }
  const requestId = text.trim()
  return (
    <Dialog title="Search or jump" variant="wide" onClose={onClose}>
      <Command label="Search or jump" loop className="palette" filter={toRank}>
        <Command.Input
          className="input"
          data-focus
          value={text}
          onValueChange={setText}
          placeholder="A page, an environment, a key, or a request id"
        />
        <Command.List className="palette-list">
          <Command.Empty className="muted">Nothing found.</Command.Empty>
          {current !== undefined && REQUEST_ID.test(requestId) && (
            <Command.Item
              className="menu-item"
              value={requestId}
              onSelect={go(() =>
                navigate({
                  to: '/o/$org/$project/$environment/logs/$requestId',
                  params: { ...toParams(current), requestId },
                }),
              )}
            >
              Open request {requestId}
            </Command.Item>
          )}
          {current !== undefined && (
            <Command.Group heading={`${current.project.name}, ${current.environment.name}`}>
              {PAGES.map(page => (
                <Command.Item
                  key={page.to}
                  className="menu-item"
                  value={`page ${page.name}`}
                  keywords={[...page.synonyms]}
                  onSelect={go(() => navigate({ to: page.to, params: toParams(current) }))}
                >
                  {page.name}
                  <span className="muted small">
                    <kbd>g</kbd> <kbd>{page.key}</kbd>
                  </span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          <OrganizationItems go={go} />
          {current !== undefined && text.trim() !== '' && (
            <KeyItems current={current} text={text.trim()} go={go} />
          )}
        </Command.List>
      </Command>
    </Dialog>
  )
}

const SYNONYM_RANK = 0.5

/** Returns how well an item matches, from 0 to 1: by a few letters of its name, or by the beginning of a synonym. */
function toRank(name: string, text: string, synonyms: readonly string[] = []): number {
  const beginning = text.trim().toLowerCase()
  const isSynonym = synonyms.some(synonym => synonym.startsWith(beginning))
  return Math.max(defaultFilter?.(name, text) ?? 0, isSynonym ? SYNONYM_RANK : 0)
}

interface OrganizationItemsProps {
  readonly go: (to: () => Promise<void>) => () => void
}

function OrganizationItems({ go }: OrganizationItemsProps) {
  const organization = useOrganization()
  const navigate = useNavigate()
  return (
    <>
      <Command.Group heading="Organization">
        {ORGANIZATION_PAGES.map(page => (
          <Command.Item
            key={page.to}
            className="menu-item"
            value={`organization ${page.name}`}
            keywords={[...page.synonyms]}
            onSelect={go(() => navigate({ to: page.to, params: { org: organization.slug } }))}
          >
            {page.name}
          </Command.Item>
        ))}
        <Command.Item
          className="menu-item"
          value="organization account"
          keywords={['password', 'profile', 'theme', 'sign out']}
          onSelect={go(() => navigate({ to: '/account' }))}
        >
          Your account
        </Command.Item>
      </Command.Group>
      <Command.Group heading="Environments">
        {organization.projects.flatMap(project =>
          project.environments.map(environment => (
            <Command.Item
              key={environment.id}
              className="menu-item"
              value={`environment ${project.name} ${environment.name}`}
              onSelect={go(() =>
                navigate({
                  to: '/o/$org/$project/$environment/overview',
                  params: toParams({ organization, project, environment }),
                }),
              )}
            >
              {project.name}
              <span className="muted">{environment.name}</span>
            </Command.Item>
          )),
        )}
      </Command.Group>
    </>
  )
}

interface KeyItemsProps {
  readonly current: ProjectEnvironment
  readonly text: string
  readonly go: (to: () => Promise<void>) => () => void
}

/**
 * The environment's keys, each of which leads to its requests. They are loaded once something is typed. If there are more than one
 * page, the keys whose names begin with the text are loaded too.
 */
function KeyItems({ current, text, go }: KeyItemsProps) {
  const navigate = useNavigate()
  const envId = current.environment.id
  const keys = useQuery({
    queryKey: ['palette-keys', envId],
    queryFn: () => listKeys(envId),
  })
  const named = useQuery({
    queryKey: ['palette-keys', envId, text],
    queryFn: () => listKeys(envId, undefined, text),
    enabled: keys.data?.has_more === true,
    placeholderData: keepPreviousData,
  })
  const found = new Map([...(keys.data?.data ?? []), ...(named.data?.data ?? [])].map(key => [key.id, key]))
  return (
    <Command.Group heading="Requests of a key">
      {[...found.values()].map(key => (
        <Command.Item
          key={key.id}
          className="menu-item"
          value={`key ${key.name} ${key.id}`}
          onSelect={go(() =>
            navigate({
              to: '/o/$org/$project/$environment/logs',
              params: toParams(current),
              search: { key_id: key.id },
            }),
          )}
        >
          {key.name}
          <code className="muted small">{key.prefix_display}</code>
        </Command.Item>
      ))}
    </Command.Group>
  )
}
