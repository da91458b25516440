import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { LogMetadata, ModelName } from '@rideau/llm/request/bounded-text'
import type { Bill } from '@rideau/llm/usage/bill'

/** What the steps of a request found out for its record. The steps that a request reached fill their fields. */
export interface RecordFields {
  modelRequested: ModelName | null
  user: string | null
  provider: string | null
  model: string | null
  catalogModel: CatalogModel | undefined
  isSandbox: boolean
  isStream: boolean
  metadata: LogMetadata | null
  /** The lowered output cap of the attempted target; null: it was not lowered. */
  outputCap: number | null
  /** The parameters that were left out for the attempted target, as the caller spells them; null: none. */
  droppedParams: readonly string[] | null
  requestBody: Buffer | undefined
  /** What the answering provider charges, in case sending the answer fails. */
  answered: Bill | undefined
}

export function emptyRecordFields(): RecordFields {
  return {
    modelRequested: null,
    user: null,
    provider: null,
    model: null,
    catalogModel: undefined,
    isSandbox: false,
    isStream: false,
    metadata: null,
    outputCap: null,
    droppedParams: null,
    requestBody: undefined,
    answered: undefined,
  }
}

interface NamedTarget {
  readonly provider: Provider
  readonly id: string
  readonly catalogModel: CatalogModel | undefined
}

/** Records the target that was attempted last. */
export function noteTarget(recordFields: RecordFields, { provider, id, catalogModel }: NamedTarget): void {
  recordFields.provider = provider.id
  recordFields.model = id
  recordFields.catalogModel = catalogModel
  recordFields.isSandbox = provider.sandbox === true
}
