import { PageHead } from '../../controls/page-head.tsx'

export function LogsPage() {
  return <PageHead title="Logs" />
}
