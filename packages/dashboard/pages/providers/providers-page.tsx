import { PageHead } from '../../controls/page-head.tsx'

export function ProvidersPage() {
  return <PageHead title="Providers" />
}
