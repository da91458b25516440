/** What a name of a model has after the name that all its versions share. */
const VERSION = /@default$|[@-]\d{8}$|-\d{4}-\d{2}-\d{2}$|-0$/

/**
 * Returns the models with the price of a long context from another name of the same model at the same price: the lists often have it
 * for the dated name or the alias only, and the other would be billed too little.
 */
export function completeByOtherNames(models) {
  return models.map(model => {
    const { pricing } = model
    if (!pricing || pricing.long_context) return model
    const other = models.find(
      ({ id, pricing: its }) => its?.long_context && isSameModel(id, model.id) && isAlike(its, pricing),
    )
    if (other === undefined) return model
    const { tiers, ...base } = pricing
    const long_context = other.pricing.long_context
    return { ...model, pricing: { ...base, long_context, ...(tiers === undefined ? {} : { tiers }) } }
  })
}

function isSameModel(one, other) {
  return one.replace(VERSION, '') === other.replace(VERSION, '')
}

function isAlike(one, other) {
  return one.input === other.input && one.output === other.output
}
