/** How to give a model a price: the end of every message of `model_unpriced`. */
export const SET_A_PRICE = 'Set one as a custom model of the environment (custom-models).'
