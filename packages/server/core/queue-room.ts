/** What a queue of all organizations may hand out now. */
export interface QueueRoom {
  /** The most items. */
  readonly limit: number
  /** The most of them that belong to slow organizations. Others come first, */
  readonly slowLimit: number
  /** except before so many, which have their turns like the others'. */
  readonly slowShare: number
  /** Ids of organizations whose hosts took long to answer. */
  readonly slow: readonly string[]
  /** The most items of one organization that run at once. */
  readonly ofOrganization: number
  /** How many items run already, by the id of their organization. */
  readonly running: ReadonlyMap<string, number>
}
