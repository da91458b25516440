import type { Resource } from '../../api/client.ts'

export type Member = Resource<'Member'>

export function nameOf({ user, invite_email: invited }: Member): string {
  return user?.name ?? user?.email ?? invited ?? 'someone'
}
