/**
 * The signature that reasoning of other models gets in the formats of Anthropic and Bedrock, whose clients keep thinking
 * only with a signature. By it the gateway recognises such reasoning when it comes back, and leaves it out for Claude.
 */
export const FOREIGN_SIGNATURE = 'rideau-thinking'
