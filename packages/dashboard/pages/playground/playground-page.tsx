import { PageHead } from '../../controls/page-head.tsx'

export function PlaygroundPage() {
  return <PageHead title="Playground" />
}
