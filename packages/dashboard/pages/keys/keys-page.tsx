import { PageHead } from '../../controls/page-head.tsx'

export function KeysPage() {
  return <PageHead title="Keys" />
}
