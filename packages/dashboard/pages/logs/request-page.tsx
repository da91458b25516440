import { PageHead } from '../../controls/page-head.tsx'

export function RequestPage() {
  return <PageHead title="Request" />
}
