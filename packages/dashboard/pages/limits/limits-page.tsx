import { PageHead } from '../../controls/page-head.tsx'

export function LimitsPage() {
  return <PageHead title="Limits" />
}
