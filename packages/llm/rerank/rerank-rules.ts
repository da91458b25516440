import { FieldRules, MODEL, type Rule, SCALAR, toListRule, toObjectRule } from '../upstream/outgoing-rules.ts'

/** What may go out in each format of rerank requests. The gateway writes all of their fields. */

const COMMON = { model: MODEL, query: SCALAR, documents: SCALAR }

export const COHERE_RULES = toRules({ ...COMMON, top_n: SCALAR, max_tokens_per_doc: SCALAR })
export const VOYAGE_RULES = toRules({ ...COMMON, top_k: SCALAR })
export const JINA_RULES = toRules({ ...COMMON, top_n: SCALAR, return_documents: SCALAR })

/** The model is named by its ARN. */
const MODEL_ARN: Rule = {
  check: (value, { model }) =>
    typeof value === 'string' && value.endsWith(`::foundation-model/${model}`) ? undefined : '',
}

const TEXT = toClosed({ text: SCALAR })

export const BEDROCK_RULES = toRules({
  queries: toListRule(toClosed({ type: SCALAR, textQuery: TEXT })),
  sources: toListRule(
    toClosed({ type: SCALAR, inlineDocumentSource: toClosed({ type: SCALAR, textDocument: TEXT }) }),
  ),
  rerankingConfiguration: toClosed({
    type: SCALAR,
    bedrockRerankingConfiguration: toClosed({
      modelConfiguration: toClosed({ modelArn: MODEL_ARN }),
      numberOfResults: SCALAR,
    }),
  }),
})

function toClosed(rules: Readonly<Record<string, Rule>>): Rule {
  return toObjectRule(rules, 'refused')
}

function toRules(rules: Readonly<Record<string, Rule>>): FieldRules {
  return new FieldRules(Object.entries(rules), 'refused')
}
