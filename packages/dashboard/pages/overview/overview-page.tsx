import { PageHead } from '../../controls/page-head.tsx'

export function OverviewPage() {
  return <PageHead title="Overview" />
}
