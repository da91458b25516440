import { CHOICES } from '../../../upstream/outgoing-rules.ts'
import { FieldTable, sent } from '../../shared/requests/field-table.ts'
import { GATEWAY_FIELDS, openAiFields } from '../../shared/requests/openai-fields.ts'

/** The fields of `POST /v1/chat`, the gateway's own format. Every other one is refused. */
export const FIELDS = new FieldTable({
  ...openAiFields({ strict: true }),
  n: sent(CHOICES),
  ...GATEWAY_FIELDS,
})
