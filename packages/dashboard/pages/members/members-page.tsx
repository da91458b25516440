import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api/client.ts'
import { refreshWorkspace } from '../../api/refresh-workspace.ts'
import { findById, useList } from '../../api/use-list.ts'
import { Button } from '../../controls/button.tsx'
import { ConfirmDialog } from '../../controls/confirm-dialog.tsx'
import { EditForm } from '../../controls/edit-form.tsx'
import { EmptyState, ListState } from '../../controls/list-state.tsx'
import { PageHeader } from '../../controls/page-header.tsx'
import { SecretDialog } from '../../controls/secret-dialog.tsx'
import { useDisabledReason, useOrganization } from '../../session/environment-context.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { type Member, nameOf } from './member.ts'
import { MemberTable } from './member-table.tsx'
import { RoleDialog } from './role-dialog.tsx'

type Open =
  | { readonly dialog: 'invite' }
  | { readonly dialog: 'link'; readonly title: string; readonly text: string; readonly url: string }
  | { readonly dialog: 'role' | 'remove'; readonly member: Member }

export function MembersPage() {
  const organization = useOrganization()
  const disabledReason = useDisabledReason('admin')
  const client = useQueryClient()
  const [open, setOpen] = useState<Open>()
  const key = ['members', organization.id]
  const list = (cursor: string | undefined) =>
    unwrap(
      api.GET('/v1/orgs/{orgId}/members', {
        params: {
          path: { orgId: organization.id },
          query: cursor === undefined ? { limit: 100 } : { limit: 100, cursor },
        },
      }),
    )
  const members = useList(key, list)
  const close = (): void => setOpen(undefined)
  const refresh = (): void => {
    void client.invalidateQueries({ queryKey: key })
    // The change may concern the user's own role.
    void refreshWorkspace(client)
  }
  const showResetLink = async (member: Member): Promise<void> => {
    const { reset_url: url } = await unwrap(
      api.POST('/v1/members/{memberId}/reset-link', { params: { path: { memberId: member.id } } }),
    )
    const text = `Send it to ${nameOf(member)} over a private channel. It sets a new password, once.`
    setOpen({ dialog: 'link', title: 'Password reset link', text, url })
  }
  const inviteButton = (
    <Button variant="primary" disabledReason={disabledReason} onClick={() => setOpen({ dialog: 'invite' })}>
      Invite
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Members"
        description={members.isSuccess ? toDescription(members.items) : 'Who may do what here.'}
        actions={inviteButton}
      />
      <ListState
        what="Members"
        query={members}
        empty={<EmptyState title="No members">{inviteButton}</EmptyState>}
      >
        <MemberTable
          members={members.items}
          disabledReason={disabledReason}
          onRole={member => setOpen({ dialog: 'role', member })}
          onResetLink={showResetLink}
          onRemove={member => setOpen({ dialog: 'remove', member })}
        />
      </ListState>
      {open?.dialog === 'invite' && (
        <InviteDialog
          onClose={close}
          onDone={({ accept_url: url, invite_email: email }) => {
            refresh()
            const text = `Send it to ${email} over a private channel. It works once, within 7 days.`
            setOpen({ dialog: 'link', title: 'Invitation link', text, url })
          }}
        />
      )}
      {open?.dialog === 'link' && (
        <SecretDialog title={open.title} text={open.text} secret={open.url} noun="link" onClose={close} />
      )}
      {open?.dialog === 'role' && (
        <EditForm record={open.member} read={() => findById(list, open.member.id)}>
          {member => <RoleDialog member={member} onClose={close} onDone={refresh} />}
        </EditForm>
      )}
      {open?.dialog === 'remove' && <RemoveDialog member={open.member} onClose={close} onDone={refresh} />}
    </>
  )
}

interface RemoveDialogProps {
  readonly member: Member
  readonly onClose: () => void
  readonly onDone: () => void
}

function RemoveDialog({ member, onClose, onDone }: RemoveDialogProps) {
  const name = nameOf(member)
  const isInvited = member.user === null
  return (
    <ConfirmDialog
      title={isInvited ? `Withdraw the invitation for ${name}` : `Remove ${name}`}
      {...(isInvited ? {} : { name })}
      action={isInvited ? 'Withdraw' : 'Remove member'}
      send={() => unwrap(api.DELETE('/v1/members/{memberId}', { params: { path: { memberId: member.id } } }))}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        {isInvited
          ? 'The link stops working.'
          : 'They lose access to this organization with their next call. Keys that they created keep working.'}
      </p>
    </ConfirmDialog>
  )
}

function toDescription(members: readonly Member[]): string {
  const invited = members.filter(({ user }) => user === null).length
  const joined = members.length - invited
  const people = `${joined} ${joined === 1 ? 'member' : 'members'}`
  return invited === 0 ? `${people}.` : `${people}, ${invited} invited.`
}
