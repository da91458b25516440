/**
 * The tool by whose forced call a model without structured output is made to answer in a schema. The decoder turns the
 * call into content again, so the name must be nobody else's.
 */
export const STRUCTURED_ANSWER = 'rideau_structured_answer'
