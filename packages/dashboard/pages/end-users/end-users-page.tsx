import { PageHead } from '../../controls/page-head.tsx'

export function EndUsersPage() {
  return <PageHead title="End users" />
}
